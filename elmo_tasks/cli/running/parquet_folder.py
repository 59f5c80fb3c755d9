"""
The Parquet files that `elmo-tasks elmo --ray` writes by Ray Data, one for each file of
text.
"""

import argparse
import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from elmo_tasks.cli.arguments import table_options
from elmo_tasks.cli.running.embedding import open_elmo, read_lines
from elmo_tasks.elmo.batching import Sentence, blocks, embed_into, parsed
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import open_tokenizer
from elmo_tasks.formats.text.text_files import list_files
from elmo_tasks.option_values import OUTPUTS, BatchSizes
from elmo_tasks.system.files import atomic_write, require_distinct
from elmo_tasks.system.ray_cluster import connected, cores_per_process, room_of

_METADATA = b"elmo_tasks"


def write_folder(args: argparse.Namespace) -> None:
    """
    Write the vectors of each file of text to a Parquet file of its name in a folder. A
    file appears when it is complete; those that are there stay.
    """
    if args.stored == "int8" or args.pooling is not None:
        raise InputError("--ray cannot be combined with --int8 or --pooling")
    if args.output not in OUTPUTS:  # an archive
        args.output = os.path.abspath(args.output)
    folder = Path(args.output_file).absolute()
    files = list_files(args.input_file)
    outputs = [folder / f"{Path(file).name}.parquet" for file in files]
    require_distinct(outputs)
    with connected(args.ray or None) as ray:
        cores = cores_per_process()
        room_of(ray, cores)
        elmo = open_elmo(args)
        settings = _settings(elmo, args, cores)
        rows = []
        for file, output in zip(files, outputs, strict=True):
            if args.force or not _is_written(output, settings):
                rows.append({"file": file, "output": str(output)})
        print(f"{len(rows)} of {len(files)} files to write", flush=True)
        if not rows:
            return
        ray.data.DataContext.get_current().enable_progress_bars = False
        # A task for each: an actor of a lost node may wait forever for its arguments.
        written = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
            _write_row,
            fn_args=(elmo, args, cores, settings),
            num_cpus=cores,
            num_gpus=int(elmo.device.type == "cuda"),
        )
        for row in written.iter_rows():
            if row["error"]:
                raise InputError(row["error"])
            print(f"{row['output']}: {row['tokens']:,} tokens", flush=True)


def _settings(elmo: Elmo, args: argparse.Namespace, cores: int) -> bytes:
    """What vectors depend on besides the text and the type of the CPU."""
    settings = {
        **elmo.provenance(),
        **elmo.vector_model(args.output, stored=args.stored).settings(),
        **elmo.sizes.of_windows(),
        "batch_size": elmo.sizes.batch_size,
        "max_tokens": elmo.sizes.max_tokens,
        "tokenizer": open_tokenizer(args.tokenizer)[1],
        "column": args.column,
        **table_options(args),
        "threads": cores,
    }
    settings.pop("model")  # which may have another name; its digest stays
    return json.dumps(settings).encode()


def _is_written(output: Path, settings: bytes) -> bool:
    """Whether a file is there. Raises `InputError` if it was not written so."""
    from pyarrow import ArrowException
    from pyarrow.parquet import read_schema

    if not output.exists():
        return False
    try:
        found = (read_schema(output).metadata or {}).get(_METADATA)
    except (ArrowException, OSError) as error:
        raise InputError(f"cannot read the table: {error}", file=output) from None
    if found != settings:
        problem = "the file was not written with this model and these options"
        hint = "name another folder, or replace it with --force"
        raise InputError(problem, file=output, hint=hint)
    return True


def _write_row(
    row: dict[str, str],
    elmo: Elmo,
    args: argparse.Namespace,
    cores: int,
    settings: bytes,
) -> dict[str, Any]:
    """What a task of the cluster does."""
    torch.set_num_threads(cores)
    tokens = 0
    error = ""
    try:
        tokens = _write(row["file"], Path(row["output"]), elmo, args, settings)
    except InputError as found:  # which Ray would send as text with a traceback
        error = str(found)
    return {"output": row["output"], "tokens": tokens, "error": error}


def _write(
    file: str, output: Path, elmo: Elmo, args: argparse.Namespace, settings: bytes
) -> int:
    """
    Write a file, whose row groups are the blocks of sentences that a single process
    computes together, so that vectors are equal to the bit. Returns the number of
    tokens.
    """
    from pyarrow.parquet import ParquetWriter

    tokens = 0
    model = elmo.vector_model(args.output, stored=args.stored)
    parse, _ = open_tokenizer(args.tokenizer)
    lines = ((file, number, line) for number, line in read_lines(args, file))
    schema = _table([], model, elmo.sizes).schema.with_metadata({_METADATA: settings})
    with (
        atomic_write(output) as aside,
        ParquetWriter(aside, schema, compression="zstd") as writer,
    ):
        for block in blocks(parsed(lines, parse), elmo.sizes):
            writer.write_table(_table(block, model, elmo.sizes))
            tokens += sum([len(sentence.tokens) for sentence in block])
    return tokens


def _table(block: list[Sentence], model: VectorModel, sizes: BatchSizes) -> Any:
    """A row for each sentence, with a column for each layer, or for one vector."""
    import pyarrow as arrow

    texts = [sentence.text for sentence in block]
    tokens = [sentence.tokens for sentence in block]
    starts = np.cumsum([0, *map(len, tokens)], dtype=np.int32)
    vectors = np.empty(model.shape(int(starts[-1])), model.dtype)  # [(L,) T, D]
    own = [vectors[..., start:end, :] for start, end in pairwise(starts)]
    embed_into(own, model, sizes, block)
    columns = {
        "sentence": arrow.array(texts, arrow.string()),
        "tokens": arrow.array(tokens, arrow.list_(arrow.string())),
    }
    layers = {"vectors": vectors}
    if model.has_layers:
        layers = {f"layer_{n}": layer for n, layer in enumerate(vectors)}
    for name, layer in layers.items():
        values = arrow.FixedSizeListArray.from_arrays(layer.ravel(), model.width)
        columns[name] = arrow.ListArray.from_arrays(starts, values)
    return arrow.table(columns)
