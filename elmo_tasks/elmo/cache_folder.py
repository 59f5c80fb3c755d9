"""A layer cache's folder: a folder below it for each biLM, and beside that one's files a JSON that says which it is."""

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.atomic import written_aside
from elmo_tasks.elmo.cache_segments import SegmentStore, bytes_in, remove_segments
from elmo_tasks.elmo.weights import file_sha256
from elmo_tasks.errors import InputError

FORMAT = 1
"""Counts up when the files, their keys, or what a biLM computes change."""

DESCRIPTION = "bilm.json"

_KEYED = ("format", "options_sha256", "weights_sha256", "state", "precision", "dtype")
_HASH = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, kw_only=True)
class CachedBiLm:
    """
    Whose layers a folder holds.

    # Parameters

    options_sha256, weights_sha256 : `str`
        In hexadecimal.
    state : `str`
        As for `BiLm`.
    precision : `str`
        The type that the biLM computes in, such as `float32`.
    dtype : `str`
        The type that the layers are stored in, such as `float16`.
    token_bytes : `int`
        Bytes of one token's layers.
    options_file, weight_file : `str`
        Where the files were when the folder was made; for readers alone.
    format : `int`
    """

    options_sha256: str
    weights_sha256: str
    state: str
    precision: str
    dtype: str
    token_bytes: int
    options_file: str
    weight_file: str
    format: int = FORMAT

    @property
    def folder_name(self) -> str:
        """A hash of all that a vector depends on besides its sentence."""
        told = json.dumps({key: getattr(self, key) for key in _KEYED}, sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    def write_to(self, folder: Path) -> None:
        """
        Write the JSON, unless it is there.

        # Raises

        `InputError` where the folder cannot be written.
        """
        if not (folder / DESCRIPTION).exists():
            with written_aside(folder / DESCRIPTION) as aside:
                aside.write_text(json.dumps(asdict(self), indent=2) + "\n", "utf-8")

    @classmethod
    def of(cls, folder: Path) -> "CachedBiLm | None":
        """What the folder's JSON says; `None` where there is none, or it says something else than the folder's name."""
        try:
            bilm = cls(**json.loads((folder / DESCRIPTION).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return bilm if bilm.folder_name == folder.name else None


class CacheStatistics(NamedTuple):
    """
    What a cache holds of one biLM.

    # Parameters

    bilm : `CachedBiLm`
    sentences, tokens : `int`
        That can be read.
    bytes : `int`
        Of all files.
    damaged : `int`
        Entries that do not match their checksum.
    """

    bilm: CachedBiLm
    sentences: int
    tokens: int
    bytes: int
    damaged: int


def total_bytes(cache_dir: Path) -> int:
    """Bytes of all biLMs' segments in a cache."""
    return sum(bytes_in(folder) for folder in _folders(cache_dir))


def statistics(cache_dir: str | Path) -> list[CacheStatistics]:
    """
    What a cache holds of each biLM. Every byte is read, and checked.

    # Raises

    `InputError` where the folder is no layer cache.
    """
    return [_statistics(folder, bilm) for folder, bilm in _bilms(cache_dir)]


def clear(cache_dir: str | Path, *, weights: str | None = None) -> list[CacheStatistics]:
    """
    Remove what a cache holds, and nothing else that may lie in the folder. A process that writes to it starts anew.

    # Parameters

    weights : `str`, optional
        Only the layers of these weights: the file, or the first digits of its sha256.

    # Returns

    What was removed.

    # Raises

    `InputError` where the folder is no layer cache, or has nothing of these weights; `OSError` where a file cannot be
    removed.
    """
    bilms = _bilms(cache_dir)
    chosen = bilms if weights is None else _with_weights(bilms, weights, cache_dir)
    removed = []
    for folder, bilm in chosen:
        removed.append(_statistics(folder, bilm))
        _remove(folder)
    return removed


def _folders(cache_dir: Path) -> list[Path]:
    """What may be folders of biLMs, by their names."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted(path for path in cache_dir.iterdir() if _HASH.fullmatch(path.name))
    return []


def _bilms(cache_dir: str | Path) -> list[tuple[Path, CachedBiLm]]:
    found = [(folder, bilm) for folder in _folders(Path(cache_dir)) if (bilm := CachedBiLm.of(folder)) is not None]
    if not found:
        raise InputError(
            "a layer cache was wanted, there is none", file=cache_dir, hint="name the folder that a cache_dir names"
        )
    return found


def _with_weights(
    bilms: list[tuple[Path, CachedBiLm]], weights: str, cache_dir: str | Path
) -> list[tuple[Path, CachedBiLm]]:
    sha256 = file_sha256(weights) if Path(weights).is_file() else weights.lower()
    chosen = [(folder, bilm) for folder, bilm in bilms if sha256 and bilm.weights_sha256.startswith(sha256)]
    if len({bilm.weights_sha256 for _, bilm in chosen}) == 1:
        return chosen
    there = ", ".join(sorted({bilm.weights_sha256 for _, bilm in bilms}))
    how_many = "several weights" if chosen else "no weights"
    raise InputError(f"{how_many} with sha256 {sha256}, there are {there}", file=cache_dir)


def _statistics(folder: Path, bilm: CachedBiLm) -> CacheStatistics:
    store = SegmentStore(folder)
    sound = [length for key, length in store.lengths().items() if store.get(key, length=length) is not None]
    return CacheStatistics(bilm, len(sound), sum(sound) // bilm.token_bytes, bytes_in(folder), store.damaged)


def _remove(folder: Path) -> None:
    remove_segments(folder)
    for leftover in folder.glob(f".{DESCRIPTION}.*"):  # of a process that was killed while it wrote the JSON
        leftover.unlink(missing_ok=True)
    (folder / DESCRIPTION).unlink(missing_ok=True)
    with suppress(OSError):  # somebody else's file, or a process began anew: the folder stays
        folder.rmdir()
