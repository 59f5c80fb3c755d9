"""An index of a corpus: one frozen layer's vector of every token, built once and memory-mapped."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from elmo_tasks.atomic import atomic_write, leftovers
from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.errors import InputError
from elmo_tasks.probing.corpus_text import WORDS, CorpusText, read_corpus
from elmo_tasks.probing.layers import Source, blocks, encode_blocks, to_half

FORMAT = 1
"""Incremented when the files or the vectors change."""

METADATA, VECTORS, PARTIAL, LOCK = "index.json", "vectors.f16", "vectors.part", "lock"

Metadata = dict[str, Any]
"""Everything that the vectors depend on."""


class CorpusIndex(NamedTuple):
    """The text, and a layer's vectors, float16 of shape [N, D]."""

    text: CorpusText
    layer: int
    vectors: np.ndarray


def index_layers(sentences: Iterable[list[str]], source: Source) -> list[CorpusIndex]:
    """The indices of all layers of a small text, in memory."""
    with TemporaryDirectory() as folder:
        CorpusText.write(sentences, Path(folder))
        text = CorpusText(Path(folder))  # stays mapped
        blocks = encode_blocks(source.encoder, text.sentences(0), words=list, what="indexing")
        vectors = np.concatenate([to_half(block.layers).numpy() for block in blocks], 1)  # [L+1, N, D]
    return [CorpusIndex(text, layer, rows) for layer, rows in enumerate(vectors)]


def open_index(
    folder: str | Path, corpus: str | Path, source: Source, *, layer: int | None = None, rebuild: bool = False
) -> CorpusIndex:
    """
    Open the index of a corpus (see `read_corpus`) and a layer (default: the top one) in a folder, where it takes `2 D`
    bytes per token. A missing index is built, and an interrupted build is resumed with the same result; `rebuild`
    replaces an existing one.

    Raises `InputError` if the folder has the index of another corpus, encoder or layer, or anything else; if the corpus
    is invalid, another process builds the index, or the folder cannot be written.
    """
    folder = Path(folder)
    metadata = _metadata(corpus, source, layer)
    if rebuild or _stored(folder) != metadata or not (folder / VECTORS).exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / LOCK, timeout=0):
                _build(folder, corpus, source, metadata, rebuild=rebuild)
        except Timeout:
            raise InputError("another process is building this index", file=folder) from None
        except OSError as error:
            raise InputError(f"the index cannot be written: {error.strerror or error}", file=folder) from None
    return _opened(folder, metadata)


def _opened(folder: Path, metadata: Metadata) -> CorpusIndex:
    try:
        text = CorpusText(folder)
        shape = len(text.types), metadata["width"]
        return CorpusIndex(text, metadata["layer"], np.memmap(folder / VECTORS, np.float16, "r", shape=shape))
    except (OSError, ValueError) as error:
        raise InputError(f"the index is damaged: {error}", file=folder, hint="--rebuild replaces it") from error


def _metadata(corpus: str | Path, source: Source, layer: int | None) -> Metadata:
    layers, width = source.shape()
    layer = layers - 1 if layer is None else layer
    if not 0 <= layer < layers:
        raise InputError(f"expected a layer from 0 to {layers - 1}, got {layer}")
    if not Path(corpus).is_file():
        raise InputError("the corpus does not exist", file=corpus)
    digests = {"options_sha256": source.options_sha256, "weights_sha256": source.weights_sha256}
    if source.pieces is not None:
        digests["pieces"] = source.pieces
    return {"format": FORMAT, "corpus_sha256": file_sha256(corpus), **digests, "layer": layer, "width": width}


def _stored(folder: Path) -> Metadata | None:
    """The metadata of the index in a folder; None if there is none, empty if it is unreadable."""
    try:
        stored = json.loads((folder / METADATA).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _build(folder: Path, corpus: str | Path, source: Source, metadata: Metadata, *, rebuild: bool) -> None:
    """Write the missing files: first the metadata, then the text, then the vectors."""
    for path in leftovers(folder):
        path.unlink()
    stored = _stored(folder)
    _check_replaceable(folder, stored, metadata, rebuild)
    if stored != metadata or rebuild:
        for name in (VECTORS, PARTIAL, WORDS):
            (folder / name).unlink(missing_ok=True)
        with atomic_write(folder / METADATA) as temporary:
            temporary.write_text(json.dumps(metadata, indent=2) + "\n", "utf-8")
    if not (folder / WORDS).exists():  # the last file of the text
        CorpusText.write(read_corpus(corpus), folder)
    if not (folder / VECTORS).exists():
        _write_vectors(folder, source, metadata)


def _check_replaceable(folder: Path, stored: Metadata | None, metadata: Metadata, rebuild: bool) -> None:
    names = sorted(path.name for path in folder.iterdir() if path.name != LOCK and not path.name.startswith("."))
    if stored is None and names:
        raise InputError(f"expected the folder of an index or an empty one, got {names[0]!r} in it", file=folder)
    if stored is not None and stored != metadata and not rebuild:
        pairs = ((key, new, stored.get(key)) for key, new in metadata.items())
        changes = [f"{key}: expected {new}, got {old}" for key, new, old in pairs if old != new]
        hint = "--rebuild replaces it; or give another folder"
        raise InputError(f"this is the index of something else: {'; '.join(changes)}", file=folder, hint=hint)


def _write_vectors(folder: Path, source: Source, metadata: Metadata) -> None:
    """Append block by block to a file that is renamed when it is complete."""
    text, partial, token_bytes = CorpusText(folder), folder / PARTIAL, 2 * metadata["width"]
    with partial.open("ab") as file:
        sentence = _first_missing(text, file.tell() // token_bytes)
        file.truncate(int(text.starts[sentence]) * token_bytes)
        for block in encode_blocks(source.encoder, text.sentences(sentence), words=list, what="indexing"):
            file.write(to_half(block.layers[metadata["layer"]]).numpy().tobytes())
            file.flush()
            os.fsync(file.fileno())
    partial.replace(folder / VECTORS)


def _first_missing(text: CorpusText, tokens: int) -> int:
    """The first sentence of the last block in a file of `tokens` vectors, since that block may be incomplete."""
    sentence = 0
    for block in blocks(text.sentences(0), words=list):
        if text.starts[sentence + len(block)] >= tokens:
            break
        sentence += len(block)
    return sentence
