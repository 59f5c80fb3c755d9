"""Which files of a folder belong to a model, and their digest."""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

from elmo_tasks.elmo.sources.manylangs import ENCODER, WEIGHTS
from elmo_tasks.formats.fetching.fetch import fits_any
from elmo_tasks.system.files import file_sha256

_SETTINGS = (  # of the model and of its tokenizer
    "config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
)
SAFETENSORS = "model*.safetensors*"
PICKLES = "pytorch_model*.bin*"
TRANSFORMER_WEIGHTS = (SAFETENSORS, PICKLES)
"""Of folders of transformers; pickles are never read, and an error says so."""

_MANYLANGS = ("*.json", "*.dic", "*.pkl")


def one_fits(names: Collection[str], patterns: Sequence[str]) -> bool:
    """Whether one of the names fits one of the patterns."""
    for name in names:
        if fits_any(name, patterns):
            return True
    return False


def patterns_read(names: Collection[str]) -> tuple[str, ...]:
    """
    Patterns of the files that are read of a folder with these names: of a transformer,
    or of ELMoForManyLangs.
    """
    if ENCODER in names or WEIGHTS in names:
        return _MANYLANGS
    return (*_SETTINGS, SAFETENSORS)


def read_beside(folder: Path) -> list[str]:
    """Patterns of the names of all files that loading a folder would read."""
    return list(patterns_read(_names_in(folder)))


def model_files(folder: Path) -> list[Path]:
    """The files of a folder that are read, sorted by name."""
    patterns = patterns_read(_names_in(folder))
    found = []
    for path in folder.iterdir():
        if fits_any(path.name, patterns) and path.is_file():
            found.append(path)
    return sorted(found)


def folder_sha256(folder: Path) -> str:
    """A digest of the names and contents of the files that are read."""
    digest = hashlib.sha256()
    for path in model_files(folder):
        digest.update(f"{file_sha256(path)}  {path.name}\n".encode())
    return digest.hexdigest()


def path_sha256(path: Path) -> str:
    """The digest of a file, or of the files of a folder."""
    return folder_sha256(path) if path.is_dir() else file_sha256(path)


def _names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]
