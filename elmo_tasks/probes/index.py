"""An index of a corpus: one frozen layer's vector of every token, built once and mapped from disk."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from elmo_tasks.atomic import written_aside
from elmo_tasks.elmo.weights import file_sha256
from elmo_tasks.errors import InputError
from elmo_tasks.probes.corpus_text import FILES, CorpusText
from elmo_tasks.probes.layers import Source, blocks, encode_blocks, to_half

FORMAT = 1
"""Counts up when the files, or what a vector depends on, change."""

ABOUT, VECTORS, UNFINISHED, LOCK = "index.json", "vectors.f16", "vectors.part", "lock"
_OURS = {ABOUT, VECTORS, UNFINISHED, LOCK, *FILES}

_REBUILD = "--rebuild builds it anew"


@dataclass(frozen=True, kw_only=True)
class About:
    """
    All that an index depends on.

    # Parameters

    corpus_sha256, options_sha256, weights_sha256 : `str`
        Of the files, in hexadecimal.
    layer : `int`
    width : `int`
        D.
    format : `int`
    """

    corpus_sha256: str
    options_sha256: str
    weights_sha256: str
    layer: int
    width: int
    format: int = FORMAT


_CALLED = {
    "corpus_sha256": "the corpus (sha256)",
    "options_sha256": "the encoder's options (sha256)",
    "weights_sha256": "the encoder's weights (sha256)",
    "layer": "the layer",
    "width": "the vectors' width",
    "format": "the index's format",
}


class CorpusIndex:
    """
    # Parameters

    text : `CorpusText`
    vectors : `np.ndarray`, float16, shape [N, D]
        Mapped from the file.
    layer : `int`
    """

    def __init__(self, folder: Path, about: About) -> None:
        try:
            self.text, self.layer = CorpusText(folder), about.layer
            size, wanted = (folder / VECTORS).stat().st_size, 2 * about.width * len(self.text.types)
        except (OSError, ValueError) as error:
            raise InputError(f"the index is damaged: {error}", file=folder, hint=_REBUILD) from error
        if size != wanted:
            problem = f"{wanted:,} bytes of vectors were wanted, found {size:,}"
            raise InputError(problem, file=folder / VECTORS, hint=_REBUILD)
        self.vectors = np.memmap(folder / VECTORS, np.float16, "r").reshape(-1, about.width)


def open_index(
    folder: str | Path, corpus: str | Path, source: Source, *, layer: int | None = None, rebuild: bool = False
) -> CorpusIndex:
    """
    Opens the index in a folder. Where there is none it is built, and where a building was stopped, at whatever moment,
    it goes on; both end with the same bytes.

    # Parameters

    folder : `str` or `Path`
        Takes `2 D` bytes a token.
    corpus : `str` or `Path`
        As `read_corpus` reads it.
    source : `Source`
    layer : `int`, optional
        0 to L; by default the top one.
    rebuild : `bool`
        Replaces whatever index is there.

    # Raises

    `InputError`
        If the folder holds the index of another corpus, encoder or layer, or something else; if the corpus is not
        sound; if another process is building; if the folder cannot be written.
    """
    folder = Path(folder)
    about = _about(corpus, source, layer)
    if rebuild or not (folder / VECTORS).exists() or _differences(folder, about):
        with _locked(folder):
            _prepare(folder, about, corpus, rebuild=rebuild)
            _write_vectors(folder, source, about)
    return CorpusIndex(folder, about)


def _about(corpus: str | Path, source: Source, layer: int | None) -> About:
    layers, width = source.shape()
    chosen = layers - 1 if layer is None else layer
    if not 0 <= chosen < layers:
        raise InputError(f"a layer from 0 to {layers - 1} was wanted, found {chosen}")
    if not Path(corpus).is_file():
        raise InputError("a corpus was wanted, there is no such file", file=corpus)
    return About(
        corpus_sha256=file_sha256(corpus),
        options_sha256=source.options_sha256,
        weights_sha256=source.weights_sha256,
        layer=chosen,
        width=width,
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Nobody else builds here meanwhile; the system lifts the lock of a process that is killed."""
    try:
        if folder.is_dir() and (foreign := sorted({path.name for path in folder.iterdir() if not _is_ours(path)})):
            hint = "name a new folder, or an empty one"
            raise InputError(f"the folder of an index was wanted, found {foreign[0]!r} in it", file=folder, hint=hint)
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK, timeout=0):
            yield
    except Timeout:
        raise InputError("another process is building this index", file=folder) from None
    except OSError as error:
        raise InputError(f"the index cannot be written: {error.strerror or error}", file=folder) from None


def _is_ours(path: Path) -> bool:
    return path.name in _OURS or any(path.name.startswith(f".{name}.") for name in _OURS)


def _prepare(folder: Path, about: About, corpus: str | Path, *, rebuild: bool) -> None:
    """Leaves a folder that says what it is of, and has the corpus' words."""
    if (folder / ABOUT).exists() and not rebuild:
        differing = _differences(folder, about)
        if not differing:
            return
        hint = "--rebuild replaces it; or name another folder"
        raise InputError("this is the index of something else: " + "; ".join(differing), file=folder, hint=hint)
    _clear(folder)
    CorpusText.write(corpus, folder)
    with written_aside(folder / ABOUT) as aside:
        aside.write_text(json.dumps(asdict(about), indent=2) + "\n", "utf-8")


def _differences(folder: Path, about: About) -> list[str]:
    """What the index in a folder is of, where that is not what is wanted."""
    try:
        found = json.loads((folder / ABOUT).read_text("utf-8"))
        there = {name: found[name] for name in _CALLED}
    except (OSError, ValueError, KeyError, TypeError):
        return [f"{ABOUT} cannot be read"]
    wanted = asdict(about)
    return [
        f"{what} was {there[name]}, is {wanted[name]}" for name, what in _CALLED.items() if there[name] != wanted[name]
    ]


def _clear(folder: Path) -> None:
    """The description goes first: without it the rest counts for nothing."""
    (folder / ABOUT).unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.name != LOCK:
            path.unlink()


def _write_vectors(folder: Path, source: Source, about: About) -> None:
    """Blocks of sentences one after the other, each flushed to disk before the next is written."""
    if (folder / VECTORS).exists():  # another process was faster
        return
    text, path = CorpusText(folder), folder / UNFINISHED
    path.touch()
    with path.open("rb+") as file:
        token_bytes = 2 * about.width
        sentence = _first_unwritten(text, file.seek(0, os.SEEK_END) // token_bytes)
        file.truncate(file.seek(int(text.starts[sentence]) * token_bytes))
        for block in encode_blocks(source.encoder, text.sentences(sentence), words=list, what="indexing"):
            file.write(to_half(block.layers[about.layer]).numpy().tobytes())
            file.flush()
            os.fsync(file.fileno())
    path.replace(folder / VECTORS)


def _first_unwritten(text: CorpusText, done: int) -> int:
    """The first sentence of the last block that was begun: those before it were flushed, and it may not have been."""
    sentence = 0
    for block in blocks(text.sentences(0), words=list):
        if text.starts[sentence + len(block)] >= done:
            break
        sentence += len(block)
    return sentence
