"""A shard of vectors, a Parquet file with a row a sentence, and the folder of shards as a sequence."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.elmo.batching import BatchSizes, Sentence, blocks, embed_into
from elmo_tasks.elmo.hdf5_reader import ElmoVectors, reading_vectors
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError, needs
from elmo_tasks.files import atomic_write

MANIFEST, SUCCESS = "_manifest.json", "_SUCCESS"
"""What a folder of shards was begun with, and the file that is written last; readers of Parquet ignore both."""

FORMAT = "elmo_tasks vector shards 1"

_METADATA = b"elmo_tasks"
_COLUMNS = ("index", "sentence", "tokens")


def part_name(number: int) -> str:
    return f"part-{number:05d}.parquet"


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
    Write the vectors of sentences to a Parquet file, whose row groups are blocks; its metadata are `settings`. `first`
    is the index of the first sentence in the corpus. Equal arguments give equal bytes. Returns the number of tokens.
    """
    from pyarrow.parquet import ParquetWriter

    tokens = 0
    # Each page has a checksum, by which `read_part` finds damage.
    options = {
        "compression": "zstd",
        "use_dictionary": False,
        "write_statistics": False,
        "write_page_checksum": True,
    }
    with (
        atomic_write(file) as aside,
        ParquetWriter(aside, _schema(model), **options) as writer,
    ):
        for block in blocks(sentences, sizes):
            writer.write_table(_table(model, sizes, block, first))
            first += len(block)
            tokens += sum(len(sentence.tokens) for sentence in block)
        writer.add_key_value_metadata(
            {_METADATA: json.dumps({**settings, "tokens": tokens})}
        )
    return tokens


def read_part(file: Path, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The metadata of an undamaged shard that was written with `settings`, else `None`. Reads the whole file."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(file, page_checksum_verification=True) as part:
            found = json.loads(part.metadata.metadata[_METADATA])
            if any(found[key] != value for key, value in settings.items()):
                return None
            for group in range(part.num_row_groups):
                part.read_row_group(group)
            return found
    except (ArrowException, OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _schema(model: VectorModel) -> Any:
    import pyarrow as arrow

    value = arrow.float16() if model.stored == "float16" else arrow.float32()
    vectors = arrow.list_(arrow.list_(value, model.width))
    fixed = [
        ("index", arrow.int64()),
        ("sentence", arrow.string()),
        ("tokens", arrow.list_(arrow.string())),
    ]
    names = (
        [f"layer_{layer}" for layer in range(model.layers.n_layers)]
        if model.has_layers
        else ["vectors"]
    )
    return arrow.schema([*fixed, *((name, vectors) for name in names)])


def _table(
    model: VectorModel, sizes: BatchSizes, block: list[Sentence], first: int
) -> Any:
    import pyarrow as arrow

    schema, texts = _schema(model), [sentence.tokens for sentence in block]
    starts = np.array([0, *accumulate(map(len, texts))], np.int32)
    layers = np.empty(
        (len(schema) - len(_COLUMNS), starts[-1], model.width), model.dtype
    )
    embed_into(
        [layers[:, start:end] for start, end in pairwise(starts)], model, sizes, block
    )
    columns = [
        range(first, first + len(block)),
        [sentence.text for sentence in block],
        texts,
    ]
    vectors = [
        arrow.ListArray.from_arrays(
            starts,
            arrow.FixedSizeListArray.from_arrays(layer.reshape(-1), layer.shape[1]),
        )
        for layer in layers
    ]
    return arrow.table([*columns, *vectors], schema=schema)


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a folder of shards was begun with. Raises `InputError` if there is no manifest, or it is damaged."""
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


class ShardedVectors(ElmoVectors):
    """`ElmoVectors` of a folder of shards. A row group is in memory at a time."""

    def __init__(self, file: str | Path) -> None:
        with needs("pyarrow"):
            import pyarrow.parquet  # noqa: F401
        self.file = Path(file)
        manifest = read_manifest(self.file)
        self._info = manifest["settings"]
        if not (self.file / SUCCESS).is_file():
            raise InputError(
                "incomplete: there are shards missing",
                file=file,
                hint="run elmo-tasks elmo again",
            )
        with reading_vectors(self.file):
            self._length = int(self._info["sentences"])
            self._starts = [int(shard["first"]) for shard in manifest["shards"]] + [
                self._length
            ]
        self._part = lru_cache(1)(self._open)
        self._group = lru_cache(1)(
            lambda number, group: self._part(number)[0].read_row_group(group)
        )

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

    def _array(self, place: int) -> np.ndarray:
        with reading_vectors(self.file):
            has_layers, layers = self._info["output"] == "all", []
            names = (
                [f"layer_{layer}" for layer in range(len(self.layer_names))]
                if has_layers
                else ["vectors"]
            )
            for vectors in (
                self._value(place, name).values for name in names
            ):  # T lists of D values
                values = vectors.flatten().to_numpy(zero_copy_only=False)
                layers.append(values.reshape(len(vectors), vectors.type.list_size))
            return np.stack(layers) if has_layers else layers[0].copy()

    def _value(self, index: int, column: str) -> Any:
        place = range(len(self))[index]
        number = bisect_right(self._starts, place) - 1
        with reading_vectors(self.file / part_name(number)):
            _, groups = self._part(number)
            row = place - self._starts[number]
            group = bisect_right(groups, row) - 1
            return self._group(number, group).column(column)[row - groups[group]]

    def _open(self, number: int) -> tuple[Any, list[int]]:
        """A shard, and the first row of each row group."""
        from pyarrow.parquet import ParquetFile

        part = ParquetFile(
            self.file / part_name(number), page_checksum_verification=True
        )
        rows = [
            part.metadata.row_group(group).num_rows
            for group in range(part.num_row_groups)
        ]
        if sum(rows) != self._starts[number + 1] - self._starts[number]:
            raise ValueError(
                f"expected {self._starts[number + 1] - self._starts[number]} rows, got {sum(rows)}"
            )
        return part, [0, *accumulate(rows)][:-1]
