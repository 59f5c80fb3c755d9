"""An index of a corpus: one frozen layer's vector of every token, built once and memory-mapped."""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.elmo.store import ROW_BYTES, TABLE, VALUES, LayerStore, file_size
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.corpus_text import STARTS, WORDS, CorpusText, read_corpus
from elmo_tasks.experiments.probes.layers import FrozenEncoder, blocks, encode_blocks, to_half
from elmo_tasks.files import atomic_write, leftovers

FORMAT = 2
"""Incremented when the files or the vectors change."""

METADATA, LOCK = "index.json", "lock"
_EARLIER_FILES = ("vectors.f16", "vectors.part")

Metadata = dict[str, Any]
"""Everything that the vectors depend on."""


class CorpusIndex(NamedTuple):
    """The text, and a layer's vectors, float16 of shape [N, D]."""

    text: CorpusText
    layer: int
    vectors: np.ndarray


def index_layers(sentences: Iterable[list[str]], encoder: FrozenEncoder) -> list[CorpusIndex]:
    """The indices of all layers of a small text, in memory."""
    with TemporaryDirectory() as folder:
        CorpusText.write(sentences, Path(folder))
        text = CorpusText(Path(folder))  # stays mapped
        blocks = encode_blocks(encoder.encode, text.sentences(0), words=list, what="indexing")
        vectors = np.concatenate([to_half(block.layers).numpy() for block in blocks], 1)  # [L+1, N, D]
    return [CorpusIndex(text, layer, rows) for layer, rows in enumerate(vectors)]


def open_index(
    folder: str | Path, corpus: str | Path, encoder: FrozenEncoder, *, layer: int | None = None, rebuild: bool = False
) -> CorpusIndex:
    """
    Open the index of a corpus (see `read_corpus`) and a layer (default: the top one) in a folder, where it takes `2 D`
    bytes per token. A missing index is built, and an interrupted build is resumed with the same result; `rebuild`
    replaces an existing one.

    Raises `InputError` if the folder has the index of another corpus, encoder or layer, or anything else; if the corpus
    is invalid, another process builds the index, or the folder cannot be written.
    """
    folder = Path(folder)
    metadata = _metadata(corpus, encoder, layer)
    try:
        if rebuild or _stored(folder) != metadata or not _is_complete(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / LOCK, timeout=0):
                _build(folder, corpus, encoder, metadata, rebuild=rebuild)
    except Timeout:
        raise InputError("another process is building this index", file=folder) from None
    except OSError as error:
        raise InputError(f"the index cannot be written: {error.strerror or error}", file=folder) from None
    return _opened(folder, metadata)


def _opened(folder: Path, metadata: Metadata) -> CorpusIndex:
    try:
        text = CorpusText(folder)
        shape = len(text.types), metadata["width"]
        vectors = np.memmap(folder / VALUES, np.float16, "r", shape=shape)  # the values are the sentences in order
        if (folder / VALUES).stat().st_size != vectors.nbytes:
            raise ValueError(f"expected {vectors.nbytes:,} bytes of vectors")
        return CorpusIndex(text, metadata["layer"], vectors)
    except (OSError, ValueError) as error:
        raise InputError(f"the index is damaged: {error}", file=folder, hint="--rebuild replaces it") from error


def _metadata(corpus: str | Path, encoder: FrozenEncoder, layer: int | None) -> Metadata:
    layers, width = encoder.shape()
    layer = layers - 1 if layer is None else layer
    if not 0 <= layer < layers:
        raise InputError(f"expected a layer from 0 to {layers - 1}, got {layer}")
    if not Path(corpus).is_file():
        raise InputError("the corpus does not exist", file=corpus)
    digests = {"options_sha256": encoder.options_sha256, "weights_sha256": encoder.weights_sha256}
    if encoder.pieces is not None:
        digests["pieces"] = encoder.pieces
    return {"format": FORMAT, "corpus_sha256": file_sha256(corpus), **digests, "layer": layer, "width": width}


def _is_complete(folder: Path) -> bool:
    """Whether the table has all sentences."""
    sentences = file_size(folder / STARTS) // np.int64().nbytes - 1
    return 0 <= sentences <= file_size(folder / TABLE) // ROW_BYTES


def _stored(folder: Path) -> Metadata | None:
    """The metadata of the index in a folder; None if there is none, empty if it is unreadable."""
    try:
        stored = json.loads((folder / METADATA).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _build(folder: Path, corpus: str | Path, encoder: FrozenEncoder, metadata: Metadata, *, rebuild: bool) -> None:
    """Write the missing files: first the metadata, then the text, then the vectors."""
    for path in leftovers(folder):
        path.unlink()
    stored = _stored(folder)
    _check_replaceable(folder, stored, metadata, rebuild)
    if stored != metadata or rebuild:
        for name in (TABLE, VALUES, WORDS, *_EARLIER_FILES):
            (folder / name).unlink(missing_ok=True)
        with atomic_write(folder / METADATA) as temporary:
            temporary.write_text(json.dumps(metadata, indent=2) + "\n", "utf-8")
    if not (folder / WORDS).exists():  # the last file of the text
        CorpusText.write(read_corpus(corpus), folder)
    _write_vectors(folder, encoder, metadata)


def _check_replaceable(folder: Path, stored: Metadata | None, metadata: Metadata, rebuild: bool) -> None:
    names = sorted(path.name for path in folder.iterdir() if path.name != LOCK and not path.name.startswith("."))
    if stored is None and names:
        raise InputError(f"expected the folder of an index or an empty one, got {names[0]!r} in it", file=folder)
    if stored is not None and stored != metadata and not rebuild:
        pairs = ((key, new, stored.get(key)) for key, new in metadata.items())
        changes = [f"{key}: expected {new}, got {old}" for key, new, old in pairs if old != new]
        hint = "--rebuild replaces it; or give another folder"
        raise InputError(f"this is the index of something else: {'; '.join(changes)}", file=folder, hint=hint)


def _write_vectors(folder: Path, encoder: FrozenEncoder, metadata: Metadata) -> None:
    """Append the sentences of the blocks that are not complete."""
    text = CorpusText(folder)
    with closing(LayerStore(folder, create=True)) as store:
        sentence = _first_missing(text, len(store))
        for block in encode_blocks(encoder.encode, text.sentences(sentence), words=list, what="indexing"):
            rows = to_half(block.layers[metadata["layer"]]).numpy()
            parts = np.split(rows, block.starts[1:])
            store.write({b"%016d" % number: part.tobytes() for number, part in enumerate(parts, start=sentence)})
            sentence += len(parts)


def _first_missing(text: CorpusText, stored: int) -> int:
    """The first sentence of the first block that is not among the `stored` sentences; a block is encoded as a whole."""
    sentence = 0
    for block in blocks(text.sentences(0), words=list):
        if sentence + len(block) > stored:
            break
        sentence += len(block)
    return sentence
