"""Training from a config: `elmo-tasks train`, and each run of a table."""

import copy
import io
import logging
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch.multiprocessing as mp
from allennlp.commands.train import _train_worker
from allennlp.common import Params
from allennlp.common.checks import check_for_gpu
from allennlp.common.util import find_open_port
from allennlp.data import Vocabulary
from allennlp.models.archival import CONFIG_NAME, META_NAME, verify_include_in_archive

from elmo_tasks.errors import InputError, Interrupted
from elmo_tasks.files import atomic_write
from elmo_tasks.processes import keep_freed_memory
from elmo_tasks.training import folder as run_folder
from elmo_tasks.training.archives import archived_config
from elmo_tasks.training.checks.files import paths_read
from elmo_tasks.training.checks.training import check_config, describe
from elmo_tasks.training.logs import logged
from elmo_tasks.training.seeds import spread_seed

logger = logging.getLogger(__name__)


def train(
    params: Params,
    folder: Path,
    *,
    recover: bool = False,
    force: bool = False,
    dry_run: bool = False,
    node_rank: int = 0,
    packages: Sequence[str] = (),
    config_file: Path | None = None,
    scale: str | None = None,
    shown: str = "all",
) -> None:
    """
    Trains the model of a config in a folder, and writes its archive, `model.tar.gz`. A run killed at any moment
    resumes exactly with `recover`.

    # Parameters

    - `params`: consumed.
    - `force`: remove an earlier run from the folder, and no other file.
    - `dry_run`: build everything, and train nothing.
    - `node_rank`: of this machine, if the config's `distributed` has several.
    - `packages`: to be imported by the processes of `distributed`, too.
    - `scale`: of the config, for the first line of the output.
    - `config_file`: which `force` must not remove.
    - `shown`: on stdout, see `logged`.

    Raises `InputError`, before anything is read or written, for an invalid config, or a folder with other contents;
    `Interrupted` by Ctrl-C or SIGTERM.
    """
    keep_freed_memory()
    spread_seed(params)
    config = copy.deepcopy(params.as_dict(quiet=True))
    check_config(config, resumed=recover)
    run_folder.require_plain_name(folder)
    if recover and not folder.is_dir():
        raise InputError("expected the folder of a run to resume, got none", file=folder)
    read = [*paths_read(config), *([config_file] if config_file else [])]
    with run_folder.exclusive(folder) as known:
        try:
            run_folder.prepare(folder, params, recover=recover, force=force, known=known, read=read)
        except BaseException:
            if not known:  # it would mark the folder as that of a run
                (folder / run_folder.LOCK).unlink(missing_ok=True)
            raise
        if shown != "warnings":
            sys.stdout.write(f"{describe(config, scale)}\n")
        with logged(folder, "all" if config.get("distributed") else shown):
            try:
                _start(params, folder, packages=list(packages), dry_run=dry_run, node_rank=node_rank)
            except KeyboardInterrupt:
                ways = "--recover, without --force, resumes from its last checkpoint"
                raise Interrupted(ways if run_folder.has_begun(folder) else "no checkpoint yet: start again") from None
            if not dry_run:
                logger.info("model: %s", write_archive(folder, config))


def _start(params: Params, folder: Path, *, packages: list[str], dry_run: bool, node_rank: int) -> None:
    """AllenNLP's training, in this process or in those of `distributed`."""
    params.params.pop("evaluation", None)  # of `evaluate`
    params.params.pop("type", None)  # the config has been checked
    included = params.params.pop("include_in_archive", None)
    verify_include_in_archive(included)
    if (distributed := params.params.pop("distributed", None)) is None:
        _train_worker(0, params, folder, include_package=packages, dry_run=dry_run)
        return
    devices = distributed.pop("cuda_devices")
    check_for_gpu(devices)
    address = distributed.pop("primary_address", "127.0.0.1")
    port = distributed.pop("primary_port", None) or find_open_port()
    processes = distributed.pop("num_nodes", 1) * len(devices)
    run_folder.make_vocabulary(params, folder)
    vocabulary = Vocabulary.from_files(folder / "vocabulary")
    params["vocabulary"] = {
        "type": "from_files",
        "directory": str(folder / "vocabulary"),
        "padding_token": vocabulary._padding_token,
        "oov_token": vocabulary._oov_token,
    }
    mp.spawn(
        _train_worker,
        args=(
            *(params.duplicate(), str(folder), ["elmo_tasks.plugin", *packages], dry_run, node_rank),
            *(address, port, processes, devices, False, included, Params(distributed)),
        ),
        nprocs=len(devices),
    )


def write_archive(folder: Path, config: Mapping[str, Any]) -> Path:
    """Writes `model.tar.gz` atomically: config, best weights, vocabulary, and what `include_in_archive` names."""
    archive = folder / run_folder.ARCHIVE
    text = archived_config((folder / CONFIG_NAME).read_bytes(), archive).encode()
    included = [path for pattern in config.get("include_in_archive") or () for path in sorted(folder.glob(pattern))]
    members = {folder / "best.th": "weights.th"} | {folder / name: name for name in ("vocabulary", META_NAME)}
    with atomic_write(archive) as aside, tarfile.open(aside, "w:gz") as file:
        entry = tarfile.TarInfo(CONFIG_NAME)
        entry.size, entry.mtime = len(text), int((folder / CONFIG_NAME).stat().st_mtime)
        file.addfile(entry, io.BytesIO(text))
        for path, name in [*members.items(), *((path, str(path.relative_to(folder))) for path in included)]:
            file.add(path, arcname=name)
    return archive
