"""
The vectors of a corpus in shards: Parquet files that several processes, also on several
machines, write.

A shard depends only on its lines and the settings, so every process that writes it
writes the same bytes.
"""

import json
import pickle
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import torch

from elmo_tasks.elmo.batching import Line, Sentence, bytes_of, parsed
from elmo_tasks.elmo.devices import cpu_type
from elmo_tasks.elmo.layer_choice import LayerChoice
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.elmo.vectors.parquet import (
    FORMAT,
    MANIFEST,
    PATHS,
    SUCCESS,
    part_key,
    part_name,
    part_settings,
    read_manifest,
    write_part,
)
from elmo_tasks.elmo.vectors.shard_plan import Shard, plan
from elmo_tasks.errors import InputError, needs, shown, without_secrets
from elmo_tasks.formats.text.raw_text import expected_input_format, line_parser
from elmo_tasks.settings import Settings, Size, checked
from elmo_tasks.system.files import LOCK, exclusive, write_text
from elmo_tasks.system.temporary import leftovers, remove_leftovers

_PART = re.compile(r"part-\d{5,}\.parquet")

Row = dict[str, Any]
"""What is known of a shard that was written: `shard`, `tokens`, `cpu`."""


@dataclass(frozen=True, kw_only=True)
class ShardJob(Settings):
    """
    What all shards have in common; for the other fields see `Elmo.write`, `line_parser`
    and `read_rows`.
    """

    elmo: Elmo  # with a source, whose files all machines have at the same paths
    folder: Path  # of the shards, which all machines share
    layers: LayerChoice = "all"
    stored: Literal["float32", "float16"] = "float32"
    input_format: Annotated[str, expected_input_format] = "tokens"
    column: str = "tokens"
    threads: Size = 1  # of a worker; values depend on it by rounding

    def settings(self) -> dict[str, Any]:
        """Everything that shards depend on, except the text and the type of the CPU."""
        import pyarrow

        model = self.elmo.vector_model(self.layers, stored=self.stored)
        sizes = self.elmo.sizes
        return {
            **self.elmo.provenance(),
            "tokenizer": line_parser(self.input_format)[1],
            "column": self.column,
            "batch_size": sizes.batch_size,
            "max_tokens": sizes.max_tokens,
            "threads": self.threads,
            "pyarrow": pyarrow.__version__,
            "width": model.width,
            **model.settings(),
            **sizes.of_windows(),
        }


@checked
def write_shards(
    job: ShardJob,
    files: Sequence[str],
    count: Size,
    *,
    executor: Executor | None = None,
    force: bool = False,
    started: Callable[[int, int], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Row:
    """
    Write the vectors of all lines of `files`, in order, to `count` shards. A shard is
    written aside and renamed, so that one which is there is whole, and stays. The
    folder gets a manifest first, and the file `_SUCCESS` last.

    Without an `executor`, this process writes the shards; other machines need the
    folder and the files of the source at the same paths. With `force`, shards of
    another call are removed first. `started` is called with the numbers of sentences
    and shards, `progress` with the number of tokens of each shard.

    Returns the numbers of `sentences` and `tokens`, and the types of CPUs, `cpus`.
    Raises `InputError` if a line is invalid, the folder is from a call with another
    text or other settings, a worker differs from this process, or another call writes
    to the folder.
    """
    with needs("pyarrow"):
        import pyarrow  # noqa: F401
    for file in files:
        if Path(file).resolve().parent == job.folder.resolve():
            raise InputError(
                "expected the shards in another folder than the input",
                file=file,
            )
    shards, text_sha256 = plan(files, count, job.column, job.input_format)
    last = shards[-1]
    total = last.first + last.lines
    text = {"shards": len(shards), "sentences": total, "text_sha256": text_sha256}
    settings = {**job.settings(), **text}
    _require_own(job.folder, settings, force)  # before a file is written
    done: Row = {"sentences": total, "tokens": 0, "cpus": set()}
    with exclusive(job.folder):
        _begin(job.folder, settings, shards, force)
        if started is not None:
            started(total, len(shards))
        for row in _write_all(job, shards, executor):
            if progress is not None:
                progress(row["tokens"])
            done["tokens"] += row["tokens"]
            done["cpus"].add(row["cpu"])
        done["cpus"] = sorted(done["cpus"])
        write_text(job.folder / SUCCESS, json.dumps(done))
    return done


def _require_own(folder: Path, settings: dict[str, Any], force: bool) -> None:
    """
    Raises `InputError` if a folder has other files than shards, or without `force`
    those of another call.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError("expected a folder for the shards, got a file", file=folder)
    manifest = folder / MANIFEST
    if manifest.exists():
        found = read_manifest(folder)
        if not force:
            _require_same(found["settings"], settings, manifest)
        return
    if not folder.exists():
        return
    temporary = leftovers(folder)
    for path in folder.iterdir():
        if path.name != LOCK and path not in temporary:
            problem = "expected an empty folder, or one of vector shards"
            raise InputError(problem, file=folder)


def _begin(
    folder: Path, settings: dict[str, Any], shards: list[Shard], force: bool
) -> None:
    """Write the manifest, or check the one that is there."""
    _require_own(folder, settings, force)
    remove_leftovers(folder)
    (folder / SUCCESS).unlink(missing_ok=True)
    if force:
        for old in folder.iterdir():
            if _PART.fullmatch(old.name):
                old.unlink(missing_ok=True)
    listed = []
    for shard in shards:
        description = asdict(shard)
        description["files"] = [without_secrets(file) for file in shard.files]
        listed.append(description)
    content = {
        "format": FORMAT,
        "settings": settings,
        "cpu": cpu_type(),
        "shards": listed,
    }
    write_text(folder / MANIFEST, json.dumps(content, indent=1))


def _require_same(
    recorded: Mapping[str, Any], expected: Mapping[str, Any], manifest: Path
) -> None:
    differing = _differing(recorded, expected)
    if differing:
        problem = f"was written with other settings: {differing}"
        hint = (
            "use the same input and options to resume, another folder, or --force to"
            " start from scratch"
        )
        raise InputError(problem, file=manifest, hint=hint)


def _differing(recorded: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """The settings that differ, with both values; empty if none does."""
    differing = []
    for key, value in expected.items():
        if key not in PATHS and recorded.get(key) != value:
            was = shown(recorded.get(key))
            differing.append(f"{key} was {was}, is {shown(value)}")
    return "; ".join(differing)


def _write_all(
    job: ShardJob, shards: Sequence[Shard], executor: Executor | None
) -> Iterator[Row]:
    """Write all shards here, or have them written in any order."""
    if executor is None:
        yield from _write_here(job, shards)
        return
    sent = pickle.dumps(job)
    calls = [executor.submit(write_shard, sent, shard) for shard in shards]
    try:
        for call in as_completed(calls):
            yield call.result()
    finally:
        for call in calls:
            call.cancel()


def _write_here(job: ShardJob, shards: Sequence[Shard]) -> Iterator[Row]:
    threads = torch.get_num_threads()
    torch.set_num_threads(job.threads)
    try:
        for shard in shards:
            yield _write(job, shard)
    finally:
        torch.set_num_threads(threads)


def write_shard(sent: bytes, shard: Shard) -> Row:
    """
    In a worker: write a shard of a pickled `ShardJob`, whose source stays open for the
    next one. Raises `InputError` if the worker's machine does not share the folder, or
    differs in a version, a file of the source or another setting.
    """
    return _write(_opened(sent), shard)


@lru_cache(1)
def _opened(sent: bytes) -> ShardJob:
    job: ShardJob = pickle.loads(sent)
    here = socket.gethostname()
    if not (job.folder / MANIFEST).is_file():
        problem = f"the worker on {here} cannot find this folder"
        hint = "name a folder on storage that all machines share"
        raise InputError(problem, file=job.folder, hint=hint)
    torch.set_num_threads(job.threads)
    found = read_manifest(job.folder)["settings"]
    differing = _differing(found, job.settings())
    if differing:
        raise InputError(f"the worker on {here} differs: {differing}", file=job.folder)
    return job


def _write(job: ShardJob, shard: Shard) -> Row:
    """Write a shard, unless it is there."""
    file = job.folder / part_name(shard.number)
    key = part_key(read_manifest(job.folder)["settings"], asdict(shard))
    if not file.exists():
        write_part(
            file,
            job.elmo.vector_model(job.layers, stored=job.stored),
            job.elmo.sizes,
            _sentences(job, shard),
            first=shard.first,
            settings={"cpu": cpu_type(), "key": key},
        )
    settings = part_settings(file)
    if settings["key"] != key:
        problem = "the shard is of another text or model"
        raise InputError(problem, file=file, hint="delete it, and repeat the command")
    return {"shard": shard.number, "tokens": settings["tokens"], "cpu": settings["cpu"]}


def _sentences(job: ShardJob, shard: Shard) -> Iterator[Sentence]:
    """Raises `InputError` at the end if the text has changed."""
    digest = sha256()

    def rows() -> Iterator[tuple[str, int, Line]]:
        found = shard.read(job.column, job.input_format)
        for file, number, row in islice(found, shard.lines):
            digest.update(bytes_of(row))
            yield file, number, row

    yield from parsed(rows(), line_parser(job.input_format, job.column)[0])
    if digest.hexdigest() != shard.sha256:
        here = socket.gethostname()
        problem = f"the text has changed since the call began, or differs on {here}"
        raise InputError(problem, file=shard.files[0])
