"""An index of a corpus: one frozen layer's vector of every token, built once and memory-mapped."""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock, Timeout

from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.elmo.store import ROW_BYTES, TABLE, VALUES, LayerStore, file_size
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.corpus_text import CorpusText, read_corpus
from elmo_tasks.experiments.probes.layers import FrozenEncoder, all_layers, blocks, encode_blocks, to_half
from elmo_tasks.files import atomic_write, leftovers

FORMAT = 2
"""Incremented when the files or the vectors change."""

METADATA, LOCK = "index.json", "lock"


class CorpusIndex(NamedTuple):
    """The text, and a layer's vectors, float16 of shape [N, D]."""

    text: CorpusText
    layer: int
    vectors: np.ndarray


def index_layers(sentences: Iterable[list[str]], encoder: FrozenEncoder) -> list[CorpusIndex]:
    """The indices of all layers of a small text, in memory."""
    text = CorpusText(sentences)
    return [CorpusIndex(text, layer, rows) for layer, rows in enumerate(all_layers(encoder, text.sentences(0)))]


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
    text = CorpusText(read_corpus(corpus))
    try:
        if rebuild or _stored(folder) != metadata or file_size(folder / TABLE) < ROW_BYTES * len(text):
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / LOCK, timeout=0):
                _prepare(folder, metadata, rebuild)
                _write_vectors(folder, text, encoder, metadata["layer"])
    except Timeout:
        raise InputError("another process is building this index", file=folder) from None
    except OSError as error:
        raise InputError(f"the index cannot be written: {error.strerror or error}", file=folder) from None
    shape = len(text.types), metadata["width"]
    if file_size(folder / VALUES) != 2 * shape[0] * shape[1]:
        raise InputError("the index is damaged", file=folder, hint="--rebuild replaces it")
    vectors = np.memmap(folder / VALUES, np.float16, "r", shape=shape)  # the values are the sentences in order
    return CorpusIndex(text, metadata["layer"], vectors)


def _metadata(corpus: str | Path, encoder: FrozenEncoder, layer: int | None) -> dict[str, Any]:
    """Everything that the vectors depend on."""
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


def _stored(folder: Path) -> dict[str, Any] | None:
    """The metadata of the index in a folder; None if there is none, empty if it is unreadable."""
    try:
        stored = json.loads((folder / METADATA).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _prepare(folder: Path, metadata: dict[str, Any], rebuild: bool) -> None:
    """Make a folder one of this index, empty or with the begun build. Raises `InputError` if it has something else."""
    for path in leftovers(folder):
        path.unlink()
    stored = _stored(folder)
    names = sorted(path.name for path in folder.iterdir() if path.name != LOCK and not path.name.startswith("."))
    if stored is None and names:
        raise InputError(f"expected the folder of an index or an empty one, got {names[0]!r} in it", file=folder)
    if stored is not None and stored != metadata and not rebuild:
        pairs = ((key, new, stored.get(key)) for key, new in metadata.items())
        changes = [f"{key}: expected {new}, got {old}" for key, new, old in pairs if old != new]
        hint = "--rebuild replaces it; or give another folder"
        raise InputError(f"this is the index of something else: {'; '.join(changes)}", file=folder, hint=hint)
    if stored != metadata or rebuild:
        for name in (TABLE, VALUES):
            (folder / name).unlink(missing_ok=True)
        with atomic_write(folder / METADATA) as temporary:
            temporary.write_text(json.dumps(metadata, indent=2) + "\n", "utf-8")


def _write_vectors(folder: Path, text: CorpusText, encoder: FrozenEncoder, layer: int) -> None:
    """Append the sentences of the blocks that are not complete."""
    with closing(LayerStore(folder, create=True)) as store:
        sentence = _first_missing(text, len(store))
        for block in encode_blocks(encoder.encode, text.sentences(sentence), what="indexing"):
            parts = np.split(to_half(block.layers[layer]).numpy(), block.starts[1:])
            store.write({b"%016d" % number: part.tobytes() for number, part in enumerate(parts, start=sentence)})
            sentence += len(parts)


def _first_missing(text: CorpusText, stored: int) -> int:
    """The first sentence of the first block that is not among the `stored` sentences; a block is encoded as a whole."""
    sentence = 0
    for block in blocks(text.sentences(0)):
        if sentence + len(block) > stored:
            break
        sentence += len(block)
    return sentence
