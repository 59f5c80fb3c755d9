"""Training from a config: `elmo-tasks train`, and each run of a table."""

import copy
import io
import logging
import tarfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
import torch.multiprocessing as mp
from allennlp.commands.train import _train_worker
from allennlp.common import Params
from allennlp.common.checks import check_for_gpu
from allennlp.common.util import find_open_port
from allennlp.models.archival import verify_include_in_archive
from allennlp.training import GradientDescentTrainer, Trainer
from torch.distributed import TCPStore

from elmo_tasks.errors import InputError, Interrupted, without_secrets
from elmo_tasks.files import LOCK, atomic_write, exclusive
from elmo_tasks.formats.tar import without_owner
from elmo_tasks.processes import keep_freed_memory
from elmo_tasks.run_names import (
    ARCHIVE,
    BEST,
    CONFIG,
    META,
    MODEL_COPIES,
    MODEL_RECORD,
    VOCABULARY,
    WEIGHTS,
)
from elmo_tasks.training.archive_contents import archived_config
from elmo_tasks.training.checks.training import VERIFIED, check_config, describe
from elmo_tasks.training.curves import draw_curves
from elmo_tasks.training.folder import (
    make_vocabulary,
    prepare,
    read_saved_vocabulary,
    require_plain_name,
    require_usable,
    set_aside,
    use_vocabulary,
    vocabulary_files,
)
from elmo_tasks.training.logs import EPOCH_LINES, logged
from elmo_tasks.training.seeds import spread_seed
from elmo_tasks.training.torchrun import Torchrun, begin
from elmo_tasks.training.trainer import ResumableTrainer
from elmo_tasks.training.tuned_model import write_own_config
from elmo_tasks.training.worker import WorkerJob, train_in_worker

logger = logging.getLogger(__name__)


def train(
    params: Params,
    folder: Path,
    *,
    recover: bool = False,
    force: bool = False,
    allow_changed: bool = False,
    packages: Sequence[str] = (),
    scale: str | None = None,
    report: Callable[[str], None] | None = None,
) -> None:
    """
    Trains the model of a config in a folder, and writes its archive, `model.tar.gz`. A
    run killed at any moment resumes exactly with `recover`. Processes of torchrun train
    it together; another attempt of torchrun resumes it.

    # Parameters

    - `params`: consumed.
    - `force`: rename a folder that is not empty, see `set_aside`.
    - `allow_changed`: resume also if files that the run reads have changed since it
      began.
    - `packages`: to be imported by the processes of `distributed`, too.
    - `scale`: of the config, for the first line of the report.
    - `report`: called with each line that says how the training goes: what is trained
      on which data, the score of each epoch, and the archive.

    Raises `InputError`, before anything is read or written, for an invalid config, or a
    folder with other contents; `Interrupted` by Ctrl-C or SIGTERM.
    """
    keep_freed_memory()
    spread_seed(params)
    write_own_config(params)
    config = copy.deepcopy(params.as_dict(quiet=True))
    check_config(config, resumed=recover)
    require_plain_name(folder)
    group = Torchrun.of_environment()
    if group is not None and group.rank > 0:
        store = group.follow(folder, config)
        with logged(folder):
            _train_with(group, store, params, folder, packages=list(packages))
        return
    if group is not None and group.resumes(folder):
        recover = True
    if recover and not folder.is_dir():
        problem = "expected the folder of a run to resume, got none"
        raise InputError(problem, file=folder)
    if force and not recover:
        _set_aside(folder, report)
    if not (folder / LOCK).exists():  # which would stay in somebody else's folder
        require_usable(folder, params, recover=recover)
    with exclusive(folder):
        prepare(folder, params, recover=recover, allow_changed=allow_changed)
        if report is not None:
            report(without_secrets(describe(config, scale)))
        with _logged_here(folder, config, report):
            try:
                _start(params, folder, group, packages=list(packages))
            except KeyboardInterrupt:
                advice = "--recover, without --force, resumes from its last checkpoint"
                raise Interrupted(f"{advice}, if any") from None
            metric = config.get("trainer", {}).get("validation_metric", "-loss")
            draw_curves(folder, metric)
            logger.info("model: %s", write_archive(folder, config))


def _set_aside(folder: Path, report: Callable[[str], None] | None) -> None:
    aside = set_aside(folder)
    if aside is not None and report is not None:
        report(f"renamed {folder} to {aside}")


def _logged_here(
    folder: Path, config: Mapping[str, Any], report: Callable[[str], None] | None
) -> AbstractContextManager[None]:
    """In `distributed` the processes that train log, and this one does not."""
    if config.get("distributed"):
        return nullcontext()
    return logged(folder, report)


def _start(
    params: Params, folder: Path, group: Torchrun | None, *, packages: list[str]
) -> None:
    """
    AllenNLP's training: in this process, as the first one of torchrun, or in those of
    `distributed`.
    """
    if group is not None:
        with group.leading(folder, params.as_dict(quiet=True)) as store:
            make_vocabulary(params, folder)
            _train_with(group, store, params, folder, packages=packages)
        return
    distributed, included = _taken(params)
    if distributed is None:
        read_saved_vocabulary(params, folder)
        _train_worker(0, params, folder, include_package=packages)
        return
    devices = distributed.pop("cuda_devices")
    check_for_gpu(devices)
    make_vocabulary(params, folder)
    use_vocabulary(params, folder)
    job = WorkerJob(
        config=params.as_dict(quiet=True),
        folder=str(folder),
        packages=packages,
        port=find_open_port(),
        devices=devices,
        included=included,
        options=distributed,
    )
    mp.spawn(train_in_worker, (job,), nprocs=len(devices))


def _train_with(
    group: Torchrun,
    store: TCPStore,
    params: Params,
    folder: Path,
    *,
    packages: list[str],
) -> None:
    """
    This process's part of a training by torchrun. For AllenNLP all processes are on one
    machine with one folder.
    """
    devices = group.devices(params.as_dict(quiet=True))
    check_for_gpu(devices[group.rank])
    distributed, included = _taken(params)
    use_vocabulary(params, folder)
    options = dict(distributed or {})
    options.pop("cuda_devices", None)
    port = begin(store)
    _train_worker(
        group.rank,
        params,
        folder,
        packages,
        primary_addr=group.address,
        primary_port=port,
        world_size=group.processes,
        distributed_device_ids=devices,
        include_in_archive=included,
        distributed_params=Params(options),
    )
    if torch.distributed.is_initialized():  # not with a single process
        torch.distributed.destroy_process_group()


def _taken(params: Params) -> tuple[dict[str, Any] | None, Any]:
    """
    `distributed` and `include_in_archive`, taken from the config with what is not the
    training's.
    """
    params.params.pop("evaluation", None)  # of `evaluate`
    params.params["type"] = VERIFIED  # the config has been checked
    _add_epoch_lines(params)
    included = params.params.pop("include_in_archive", None)
    verify_include_in_archive(included)
    return params.params.pop("distributed", None), included


def _add_epoch_lines(params: Params) -> None:
    """Has AllenNLP's trainer, too, log a line for each epoch."""
    given = params.params.get("trainer") or {}
    if isinstance(given, str):
        given = {"type": given}
    options = dict(given)
    name = options.get("type", Trainer.default_implementation)
    trainer, _ = Trainer.resolve_class_name(name)
    is_theirs = issubclass(trainer, GradientDescentTrainer)
    if is_theirs and not issubclass(trainer, ResumableTrainer):
        callbacks = options.get("callbacks") or []
        options["callbacks"] = [*callbacks, {"type": EPOCH_LINES}]
        params.params["trainer"] = options


def write_archive(folder: Path, config: Mapping[str, Any]) -> Path:
    """
    Writes `model.tar.gz` atomically: config, best weights, vocabulary, and what
    `include_in_archive` names.
    """
    archive = folder / ARCHIVE
    text = archived_config((folder / CONFIG).read_bytes(), archive).encode()
    included: list[Path] = []
    patterns = config.get("include_in_archive") or ()
    for pattern in dict.fromkeys([MODEL_RECORD, MODEL_COPIES, *patterns]):
        included += sorted(folder.glob(pattern))
    members = [(folder / BEST, WEIGHTS), (folder / META, META)]
    for path in vocabulary_files(folder):
        members.append((path, f"{VOCABULARY}/{path.name}"))
    for path in included:
        members.append((path, str(path.relative_to(folder))))
    entry = tarfile.TarInfo(CONFIG)
    entry.size = len(text)
    entry.mtime = int((folder / CONFIG).stat().st_mtime)
    with atomic_write(archive) as aside, tarfile.open(aside, "w:gz") as file:
        file.addfile(entry, io.BytesIO(text))
        for path, name in members:
            file.add(path, arcname=name, filter=without_owner)
    return archive
