"""
A shard of vectors, a Parquet file with a row a sentence, and the folder of shards as a
sequence.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.elmo.batching import Sentence, blocks, embed_into
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.vectors.stored import StoredVectors, reading_vectors
from elmo_tasks.errors import InputError, needs
from elmo_tasks.option_values import BatchSizes
from elmo_tasks.system.files import atomic_write

MANIFEST = "_manifest.json"
"""
What a folder of shards was begun with. Readers of Parquet ignore it, and the next file.
"""

SUCCESS = "_SUCCESS"
"""The file that is written last."""

FORMAT = "elmo_tasks vector shards 2"

PATHS = ("options_file", "weight_file")
"""Settings that may differ when a call resumes: files may have moved."""

_METADATA = b"elmo_tasks"


def part_name(number: int) -> str:
    return f"part-{number:05d}.parquet"


def part_key(settings: Mapping[str, Any], shard: Mapping[str, Any]) -> str:
    """
    A digest that tells a shard from all others, also those of another text or model,
    from the settings of a manifest and what it says of the shard.
    """
    kept = {key: value for key, value in settings.items() if key not in PATHS}
    content = json.dumps([kept, shard["number"], shard["sha256"]], sort_keys=True)
    return sha256(content.encode()).hexdigest()


def write_part(
    file: Path,
    model: VectorModel,
    sizes: BatchSizes,
    sentences: Iterator[Sentence],
    *,
    first: int,
    settings: Mapping[str, Any],
) -> int:
    """
    Write the vectors of sentences to a Parquet file, whose row groups are blocks; its
    metadata are `settings`. `first` is the index of the first sentence in the corpus.
    Equal arguments give equal bytes. Returns the number of tokens.
    """
    from pyarrow.parquet import ParquetWriter

    tokens = 0
    # Each page has a checksum, by which readers find damage.
    options = {
        "compression": "zstd",
        "use_dictionary": False,
        "write_statistics": False,
        "write_page_checksum": True,
    }
    with (
        atomic_write(file) as aside,
        ParquetWriter(aside, _schema_of(model), **options) as writer,
    ):
        for block in blocks(sentences, sizes):
            writer.write_table(_table(model, sizes, block, first))
            first += len(block)
            for sentence in block:
                tokens += len(sentence.tokens)
        writer.add_key_value_metadata(
            {_METADATA: json.dumps({**settings, "tokens": tokens})}
        )
    return tokens


def part_settings(file: Path) -> dict[str, Any]:
    """What `write_part` wrote as metadata. Raises `InputError` if it is damaged."""
    from pyarrow.parquet import read_metadata

    with reading_vectors(file):
        found: dict[str, Any] = json.loads(read_metadata(file).metadata[_METADATA])
        return found


def _schema_of(model: VectorModel) -> Any:
    names = _vector_columns(model.layers.n_layers, has_layers=model.has_layers)
    return _schema(names, model.stored, model.width)


def _schema(names: list[str], stored: str, width: int) -> Any:
    """The columns of a shard, with these names of columns of vectors."""
    import pyarrow as arrow

    value = arrow.float32()
    if stored == "float16":
        value = arrow.float16()
    vectors = arrow.list_(arrow.list_(value, width))
    columns = [
        ("index", arrow.int64()),
        ("sentence", arrow.string()),
        ("tokens", arrow.list_(arrow.string())),
    ]
    for name in names:
        columns.append((name, vectors))
    return arrow.schema(columns)


def _vector_columns(n_layers: int, *, has_layers: bool) -> list[str]:
    """
    The names of the columns of vectors: one for each layer, or one for a single layer
    or a mix.
    """
    if not has_layers:
        return ["vectors"]
    return [f"layer_{layer}" for layer in range(n_layers)]


def _table(
    model: VectorModel, sizes: BatchSizes, block: list[Sentence], first: int
) -> Any:
    import pyarrow as arrow

    schema = _schema_of(model)
    indices = range(first, first + len(block))
    texts = [sentence.text for sentence in block]
    tokens = [sentence.tokens for sentence in block]
    columns = [indices, texts, tokens]
    starts = np.array(_starts(map(len, tokens)), np.int32)
    n_layers = len(schema) - len(columns)
    layers = np.empty((n_layers, starts[-1], model.width), model.dtype)  # [L, T, D]
    of_sentences = [layers[:, start:end] for start, end in pairwise(starts)]
    embed_into(of_sentences, model, sizes, block)
    for layer in layers:
        values = arrow.FixedSizeListArray.from_arrays(layer.reshape(-1), model.width)
        columns.append(arrow.ListArray.from_arrays(starts, values))
    return arrow.table(columns, schema=schema)


def _starts(lengths: Iterable[int]) -> list[int]:
    """The start of each of several parts of a sequence, and the end of the last."""
    return list(accumulate(lengths, initial=0))


def read_manifest(folder: Path) -> dict[str, Any]:
    """
    The manifest of a folder of shards: the settings with which it was started. Raises
    `InputError` if it is missing or damaged.
    """
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text("utf-8"))
        if manifest["format"] != FORMAT or not isinstance(manifest["settings"], dict):
            raise ValueError(f"expected the format {FORMAT!r}")
        return manifest
    except FileNotFoundError:
        raise InputError(
            "expected a folder of vectors in shards, got no manifest", file=file
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"cannot be read: {error}",
            file=file,
            hint="name another folder, or remove this one to write the shards again",
        ) from None


class ShardedVectors(StoredVectors):
    """`ElmoVectors` of a folder of shards. A row group is in memory at a time."""

    def __init__(self, folder: Path) -> None:
        with needs("pyarrow"):
            import pyarrow.parquet  # noqa: F401
        manifest = read_manifest(folder)
        if not (folder / SUCCESS).is_file():
            raise InputError(
                "incomplete: some shards are missing",
                file=folder,
                hint="repeat the `elmo-tasks elmo` command to write them",
            )
        with reading_vectors(folder):
            length = int(manifest["settings"]["sentences"])
            self._starts = [int(shard["first"]) for shard in manifest["shards"]]
            self._starts.append(length)
            self._shards = manifest["shards"]
            self._stored = str(manifest["settings"]["dtype"])
            self._width = int(manifest["settings"]["width"])
        super().__init__(folder, manifest["settings"], length)
        self._part = lru_cache(1)(self._open)
        self._group = lru_cache(1)(self._read_group)

    def tokens(self, index: int) -> list[str]:
        with reading_vectors(self.file):
            return self._value(index, "tokens").as_py()

    def sentence(self, index: int) -> str:
        with reading_vectors(self.file):
            return self._value(index, "sentence").as_py()

    def close(self) -> None:
        """Close the open shard; reading opens it again."""
        self._part.cache_clear()
        self._group.cache_clear()

    def array(self, index: int) -> np.ndarray:
        with reading_vectors(self.file):
            layers = [self._vectors(index, name) for name in self._names()]
            if self.has_layers:
                return np.stack(layers)
            return layers[0].copy()

    def _names(self) -> list[str]:
        """The columns of vectors."""
        return _vector_columns(len(self.layer_names), has_layers=self.has_layers)

    def _vectors(self, index: int, column: str) -> np.ndarray:
        """The vectors of a sentence [T, D]."""
        vectors = self._value(index, column).values  # T lists of D values
        values = vectors.flatten().to_numpy(zero_copy_only=False)
        return values.reshape(len(vectors), vectors.type.list_size)

    def _value(self, index: int, column: str) -> Any:
        index = range(len(self))[index]
        number = bisect_right(self._starts, index) - 1
        with reading_vectors(self.file / part_name(number)):
            _, groups = self._part(number)
            row = index - self._starts[number]
            group = bisect_right(groups, row) - 1
            return self._group(number, group).column(column)[row - groups[group]]

    def _open(self, number: int) -> tuple[Any, list[int]]:
        """A shard, and the first row of each row group."""
        from pyarrow.parquet import ParquetFile

        file = self.file / part_name(number)
        part = ParquetFile(file, page_checksum_verification=True)
        # Pages have checksums, the description of the columns has none.
        if part.schema_arrow != _schema(self._names(), self._stored, self._width):
            raise ValueError("unexpected columns")
        found = json.loads(part.metadata.metadata[_METADATA])
        if found["key"] != part_key(self.info, self._shards[number]):
            raise ValueError("it is of another text or model")
        lengths = []
        for group in range(part.num_row_groups):
            lengths.append(part.metadata.row_group(group).num_rows)
        expected = self._starts[number + 1] - self._starts[number]
        if sum(lengths) != expected:
            raise ValueError(f"expected {expected} rows, got {sum(lengths)}")
        return part, _starts(lengths)[:-1]

    def _read_group(self, number: int, group: int) -> Any:
        part, _ = self._part(number)
        return part.read_row_group(group)
