"""Training from a config: `elmo-tasks train`, and each run of a table."""

import copy
import io
import logging
import tarfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch.multiprocessing as mp
from allennlp.common import Params
from allennlp.common.util import find_open_port
from allennlp.models.archival import verify_include_in_archive

from elmo_tasks.errors import InputError, Interrupted
from elmo_tasks.system.files import LOCK, atomic_write, exclusive
from elmo_tasks.system.processes import keep_freed_memory
from elmo_tasks.system.run_names import (
    ARCHIVE,
    BEST,
    CONFIG,
    META,
    MODEL_COPIES,
    MODEL_RECORD,
    VOCABULARY,
    WEIGHTS,
)
from elmo_tasks.training.archives.contents import archived_config
from elmo_tasks.training.archives.tuned_model import write_own_config
from elmo_tasks.training.checks.training import require_sound
from elmo_tasks.training.config import spread_seed, write_out_types
from elmo_tasks.training.folder import (
    make_vocabulary,
    prepare,
    require_plain_name,
    require_usable,
    vocabulary_files,
    wait_for_vocabulary,
)
from elmo_tasks.training.reports.curves import draw_curves
from elmo_tasks.training.reports.logs import logged
from elmo_tasks.training.torchrun import (
    Launch,
    Training,
    launch_of_torchrun,
    run,
    run_as,
)

logger = logging.getLogger(__name__)

RECOVER = "--recover resumes from the last checkpoint, if there is one"


def train(
    params: Params,
    folder: Path,
    *,
    recover: bool = False,
    packages: Sequence[str] = (),
    report: Callable[[str], None] | None = None,
) -> None:
    """
    Trains the model of a config in a folder, and writes its archive, `model.tar.gz`. A
    run killed at any moment resumes exactly with `recover`. Processes of torchrun train
    it together, and resume it if the folder has it.

    # Parameters

    - `params`: consumed.
    - `packages`: to be imported by the processes of `distributed`, too.
    - `report`: called with each line that says how the training goes: what is trained
      on which data, the score of each epoch, and the archive.

    Raises `InputError`, before anything is read or written, for an invalid config, or a
    folder with other contents; `Interrupted` by Ctrl-C or SIGTERM.
    """
    keep_freed_memory()
    spread_seed(params)
    write_out_types(params.params)
    write_own_config(params)
    config = copy.deepcopy(params.as_dict(quiet=True))
    require_plain_name(folder)
    if not recover:
        require_sound(config)
    verify_include_in_archive(config.get("include_in_archive"))
    plain = dict(config)
    plain.pop("evaluation", None)  # a key of `evaluate`
    training = Training(plain, folder, packages)
    launch = launch_of_torchrun(config)
    if launch is not None and launch.rank > 0:
        wait_for_vocabulary(folder)
        with logged(folder):
            run(training, launch)
        return
    if launch is not None and (folder / CONFIG).is_file():
        recover = True
    if recover and not folder.is_dir():
        problem = "expected the folder of a run to resume, got none"
        raise InputError(problem, file=folder)
    if not (folder / LOCK).exists():  # which would stay in somebody else's folder
        require_usable(folder, params, recover=recover)
    with exclusive(folder):
        prepare(folder, params, recover=recover)
        if report is not None:
            report(f"training on {config.get('train_data_path')}")
        log: AbstractContextManager[None] = logged(folder, report)
        if config.get("distributed"):  # whose processes log
            log = nullcontext()
        with log:
            try:
                _launch(training, config, launch)
            except KeyboardInterrupt:
                raise Interrupted(RECOVER) from None
            draw_curves(folder, config["trainer"].get("validation_metric", "-loss"))
            logger.info("model: %s", write_archive(folder, config))


def _launch(
    training: Training, config: Mapping[str, Any], launch: Launch | None
) -> None:
    """
    AllenNLP's training: in this process, in those of `distributed`, or as the first of
    torchrun. Where there are several, this one makes their vocabulary.
    """
    if launch is not None:
        make_vocabulary(Params(copy.deepcopy(dict(config))), training.folder)
        run(training, launch)
    elif config.get("distributed"):
        make_vocabulary(Params(copy.deepcopy(dict(config))), training.folder)
        devices = config["distributed"]["cuda_devices"]
        launch = Launch(devices=devices, port=find_open_port())
        mp.spawn(run_as, (training, launch), nprocs=len(devices))
    else:
        run(training, Launch())


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


def without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """
    A member to be written, without the name and number of the user and the group; a
    filter of `TarFile.add`.
    """
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
