"""
The HDF5 files that `elmo-tasks elmo --ray` writes by Ray Data, one for each file of
text.
"""

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.cli.running.embedding import open_elmo, read_lines
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.elmo.vectors.hdf5_reader import ElmoVectors
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import open_tokenizer
from elmo_tasks.formats.text.text_files import list_files
from elmo_tasks.option_values import OUTPUTS
from elmo_tasks.system.files import require_distinct
from elmo_tasks.system.ray_cluster import connected, cores_per_process, room_of

SETTINGS = "settings"
"""The attribute of a file with what its vectors depend on."""


def write_folder(args: argparse.Namespace) -> None:
    """
    Write the vectors of each file of text to an HDF5 file of its name in a folder. A
    file appears when it is complete; those that are there stay.
    """
    if args.output not in OUTPUTS:  # an archive
        args.output = os.path.abspath(args.output)
    folder = Path(args.output_file).absolute()
    files = list_files(args.input_file)
    outputs = [folder / f"{Path(file).name}.hdf5" for file in files]
    require_distinct(outputs)
    with connected(args.ray or None) as ray:
        cores = cores_per_process()
        room = room_of(ray, cores)
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
        written = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
            _Writer,
            fn_constructor_args=(elmo, args, cores, settings),
            compute=ray.data.ActorPoolStrategy(
                size=min(room, len(rows)), max_tasks_in_flight_per_actor=1
            ),
            num_cpus=cores,
            num_gpus=int(elmo.device.type == "cuda"),
        )
        for row in written.iter_rows():
            if row["error"]:
                raise InputError(row["error"])
            print(f"{row['output']}: {row['tokens']:,} tokens", flush=True)


def _settings(elmo: Elmo, args: argparse.Namespace, cores: int) -> str:
    """What vectors depend on besides the text and the type of the CPU."""
    settings = {
        **elmo.provenance(),
        **elmo.vector_model(args.output, stored=args.stored).settings(),
        **elmo.sizes.of_windows(),
        "batch_size": elmo.sizes.batch_size,
        "max_tokens": elmo.sizes.max_tokens,
        "tokenizer": open_tokenizer(args.tokenizer)[1],
        "column": args.column,
        "pooling": args.pooling,
        "threads": cores,
    }
    settings.pop("model")  # which may have another name; its digest stays
    return json.dumps(settings)


def _is_written(output: Path, settings: str) -> bool:
    """Whether a file is there. Raises `InputError` if it was not written so."""
    if not output.exists():
        return False
    with ElmoVectors(output) as found:
        if found.info.get(SETTINGS) != settings:
            problem = "the file was not written with this model and these options"
            hint = "name another folder, or replace it with --force"
            raise InputError(problem, file=output, hint=hint)
    return True


class _Writer:
    """An actor of the cluster, which opens the model once, and writes files."""

    def __init__(
        self, elmo: Elmo, args: argparse.Namespace, cores: int, settings: str
    ) -> None:
        torch.set_num_threads(cores)
        self._elmo = elmo
        self._args = args
        self._settings = settings

    def __call__(self, row: dict[str, str]) -> dict[str, Any]:
        counted: dict[str, Any] = {}
        error = ""

        def started(counts: Mapping[str, Any]) -> None:
            counted.update(counts)

        try:
            self._elmo.write(
                read_lines(self._args, row["file"]),
                row["output"],
                layers=self._args.output,
                stored=self._args.stored,
                tokenizer=self._args.tokenizer,
                settings={"input": row["file"], SETTINGS: self._settings},
                pooling=self._args.pooling,
                force=True,
                started=started,
            )
        except InputError as found:  # which Ray would send as text with a traceback
            error = str(found)
        tokens = counted.get("tokens", 0)
        return {"output": row["output"], "tokens": tokens, "error": error}
