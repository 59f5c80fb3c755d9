"""
Trainings in separate processes that are killed at a given point, and the comparison of
two runs.
"""

import functools
import importlib
import io
import json
import math
import multiprocessing
import os
import signal
import tarfile
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import torch
import torch.multiprocessing

import elmo_tasks.plugin  # noqa: F401 (for the fork server)
from elmo_tasks.cli.main import main
from elmo_tasks.system.run_names import CURVE
from tests.forks import kill_at_event

IGNORED = ("duration", "memory", "seconds", "best_model_filename")
"""Names of values that may differ between two runs: times, memory, and paths."""

FORWARD = "elmo_tasks.training.trainer:ResumableTrainer.batch_outputs"
"""A `Place`: a step of training or validation."""

SMALL_NER = {
    "model.encoder.hidden_sizes": [5, 4],
    "model.text_field_embedder.token_embedders.token_characters.encoder.num_filters": 3,
    "data_loader.batch_sampler.batch_size": 1,
}
"""Makes `ner_elmo` tiny."""


class Place(NamedTuple):
    """
    Where a process kills itself: before the n-th call, counted from 1, of `module:name`
    or `module:Class.name`; with `half`, after half of the bytes of `torch.save`.
    """

    function: str
    call: int
    half: bool = False

    def lay(self) -> None:
        """Patch the function."""
        module, _, dotted = self.function.partition(":")
        *owners, name = dotted.split(".")
        owner = functools.reduce(getattr, owners, importlib.import_module(module))
        function: Callable[..., Any] = getattr(owner, name)
        calls = 0

        def counted(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == self.call:
                if self.half:
                    write_half(*arguments)
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        setattr(owner, name, counted)


def write_half(state: Any, file: BinaryIO | str) -> None:
    """Write the first half of what `torch.save` writes."""
    whole = io.BytesIO()
    torch.serialization.save(state, whole)
    half = whole.getvalue()[: whole.tell() // 2]
    if isinstance(file, str):
        Path(file).write_bytes(half)
    else:
        file.write(half)
        file.flush()


def killed_at_event(
    number: int, folder: Path, function: Callable[..., Any], *arguments: Any
) -> int:
    """
    Call a function in a new process that kills itself at its n-th change below
    `folder`, see `kill_at_event`. Returns the exit code, 0 if there are fewer.
    """
    target = (number, folder, function, arguments)
    process = fork_server().Process(target=_call_and_die, args=target)
    process.start()
    process.join()
    return int(process.exitcode or 0)


def _call_and_die(
    number: int, folder: Path, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    kill_at_event(number, folder)
    function(*arguments)


class Training(NamedTuple):
    """`elmo-tasks train` of a file in `training_config` of a data root."""

    config: str
    root: Path
    overrides: dict[str, Any]

    def run(self, folder: Path, **given: Any) -> int:
        """
        Train in a new process, see `start`, and resume if the folder exists; return the
        exit code.
        """
        process = self.start(folder, **given)
        process.join()
        return int(process.exitcode or 0)

    def start(
        self,
        folder: Path,
        *,
        killed_at: Place | None = None,
        flags: tuple[str, ...] = (),
    ) -> BaseProcess:
        """Start the process from the fork server."""
        arguments = (self, folder, killed_at, flags)
        process = fork_server().Process(target=_train, args=arguments)
        process.start()
        return process


def fork_server() -> ForkServerContext:
    """What starts processes that have imported this module."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _train(
    training: Training,
    folder: Path,
    killed_at: Place | None,
    flags: tuple[str, ...],
) -> None:
    torch.set_num_threads(1)
    log = os.open(f"{folder}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(log, stream)
    if killed_at is not None:
        killed_at.lay()
    torch.multiprocessing.spawn = functools.partial(
        torch.multiprocessing.start_processes, start_method="fork"
    )
    config = training.root / "training_config" / f"{training.config}.jsonnet"
    if folder.exists():
        flags = ("--recover", *flags)
    main(
        [
            "train",
            str(config),
            "-s",
            str(folder),
            "-o",
            json.dumps(training.overrides),
            *flags,
        ]
    )


def differences(found: Path, expected: Path) -> list[str]:
    """
    Where two finished runs differ except in times: weights, the trainer's state,
    metrics, the curve.
    """
    ours, theirs = dict(contents(found)), dict(contents(expected))
    return sorted(ours.keys() ^ theirs.keys()) + [
        n for n in ours.keys() & theirs.keys() if not same(ours[n], theirs[n])
    ]


def contents(run: Path) -> Iterator[tuple[str, Any]]:
    """Numbers, tensors and strings in a run's folder, by file and path within it."""
    for path in sorted(run.iterdir()):
        if path.suffix == ".th":
            yield from flat(torch.load(path), path.name)
        elif path.name.startswith("metrics"):
            yield from flat(json.loads(path.read_text()), path.name)
        elif path.name == CURVE:
            yield from flat(
                [json.loads(line) for line in path.read_text().splitlines()], path.name
            )
        elif path.name == "model.tar.gz":
            with tarfile.open(path) as archive:
                weights = archive.extractfile("weights.th")
                assert weights is not None
                yield from flat(torch.load(io.BytesIO(weights.read())), path.name)
        elif path.is_file() and path.suffix not in (".log", ".json"):
            yield path.name, None


def flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The leaves of nested dictionaries and lists, without the keys in `IGNORED`."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not any(name in str(key) for name in IGNORED):
                yield from flat(item, f"{path}/{key}")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from flat(item, f"{path}/{place}")
    else:
        yield path, value


def same(one: Any, other: Any) -> bool:
    """Bitwise equality; NaN equals NaN."""
    if isinstance(one, torch.Tensor):
        return (
            isinstance(other, torch.Tensor)
            and one.dtype == other.dtype
            and torch.equal(one, other)
        )
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return type(one) is type(other) and bool(one == other)
