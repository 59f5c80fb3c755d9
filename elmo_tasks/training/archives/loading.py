"""
Loading an archive (`model.tar.gz`) or the folder of a run: nothing in it is executed,
each fault is one error.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from allennlp.common import Params, util
from allennlp.common.util import prepare_environment
from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator
from allennlp.models import Model, archival
from allennlp.models.archival import Archive

from elmo_tasks.elmo.allocation import parameters_of_at_most
from elmo_tasks.errors import InputError, causes
from elmo_tasks.formats.tensor_files import load_tensors
from elmo_tasks.system.run_names import CONFIG, WEIGHTS
from elmo_tasks.training.archives.contents import HINT, unpacked
from elmo_tasks.training.archives.opener import opener_of, registered_opener
from elmo_tasks.training.archives.outside import PARTS, constructed
from elmo_tasks.training.archives.registered_names import named_in, registered_alone
from elmo_tasks.training.config import spread_seed
from elmo_tasks.training.data.subsampling import SHARE_LOADER, WHOLE, Part
from elmo_tasks.training.parts import constructing, params_of
from elmo_tasks.training.pass_loss import loss_of_pass

logger = logging.getLogger(__name__)

STATE_PREFIXES = ("Error(s) in loading state_dict", "Error loading state dict")

UNFIT = (
    RuntimeError,
    MemoryError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    AssertionError,
)
"""Errors of AllenNLP and PyTorch while they construct a model and load its weights."""

DAMAGED = (*UNFIT, OSError, EOFError)
"""Errors of PyTorch while it reads a damaged file."""

_MAY_BE_MISSING = "position_ids"  # a constant, as AllenNLP's embedder has it

_SMALL_MODEL = 2**26  # bytes of parameters that any archive may describe

_OF_MODEL = "the model's config, with its overrides"


def load_archive(
    file: str | Path,
    *,
    cuda_device: int = -1,
    overrides: str = "",
    allow_downloads: bool = False,
) -> Archive:
    """
    AllenNLP's `load_archive`, which also constructs any class that a config names,
    executes its Jsonnet, and unpacks to any path. What the config names is fetched with
    `allow_downloads` alone; what was fetched before is used. Raises `InputError` if the
    archive is damaged or unsafe, needs a download, or the overrides do not fit.
    """
    with (
        unpacked(file) as folder,
        explained(file),
        registered_alone(file, named_in(overrides)),
        _no_standard_input(),
        spacy_downloads(allowed=allow_downloads),
    ):
        weights = Path(archival.get_weights_path(folder))
        config = Params.from_file(folder / CONFIG, overrides)
        require_registered(config, file)
        opener = opener_of(config)
        if opener is None:
            offline = not allow_downloads
            values, fetched = constructed(config.as_dict(quiet=True), offline=offline)
            if offline and fetched:
                names = ", ".join(fetched)
                problem = f"the archive needs what it does not contain: {names}"
                hint = "--allow-downloads fetches it"
                raise InputError(problem, file=file, hint=hint)
            loaded = built(folder, values, weights, file=file, cuda_device=cuda_device)
        else:
            loaded = opener.load(
                folder,
                config,
                weights,
                file=file,
                cuda_device=cuda_device,
                allow_downloads=allow_downloads,
            )
        return loaded._replace(config=config)


def built(
    folder: Path,
    config: Mapping[str, Any],
    weights: Path,
    *,
    file: str | Path,
    cuda_device: int,
) -> Archive:
    """
    The archive `file`, unpacked in `folder`, with another config and weights. Raises
    `InputError` if the weights lack a tensor of the model, or are much smaller.
    """
    state = required_state(weights, file)
    (folder / CONFIG).write_text(json.dumps(config), "utf-8")
    with sized_as(weights, state):
        loaded = archival.load_archive(folder, cuda_device, "", weights)
    _require_all_weights(loaded.model, state, file)
    return loaded


@contextmanager
def sized_as(weights: Path, state: Mapping[str, Any]) -> Iterator[None]:
    """Inside, modules are built of about the size of these weights at most."""
    size = 2 * weights.stat().st_size + _SMALL_MODEL
    with parameters_of_at_most(size, 4 * len(state) + 1000):
        yield


@contextmanager
def spacy_downloads(*, allowed: bool) -> Iterator[None]:
    """Inside, AllenNLP downloads models of spaCy that are missing only if allowed."""
    before = util.spacy_download
    if not allowed:
        util.spacy_download = _refuse_model
    try:
        yield
    finally:
        util.spacy_download = before


def _refuse_model(name: str) -> None:
    hint = f"python -m spacy download {name}, or --allow-downloads"
    raise InputError(f"spaCy's model {name} is not installed", hint=hint)


def _require_all_weights(
    model: Model, state: Mapping[str, Any], file: str | Path
) -> None:
    """
    Raises `InputError` if the state of the archive `file` lacks a tensor of the model.
    AllenNLP does not notice that in a model with a transformer: one of its modules says
    which of its own may be missing, and AllenNLP then forgets those of all the others.
    """
    names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    for prefix, module in model.named_modules(remove_duplicate=False):
        for name, _ in module.named_buffers(recurse=False):
            if name not in module._non_persistent_buffers_set:
                names.append(f"{prefix}.{name}".removeprefix("."))
    missing = []
    for name in names:
        if name not in state and not name.endswith(_MAY_BE_MISSING):
            missing.append(name)
    if missing:
        problem = f"the weights do not fit the configuration: Missing keys: {missing}"
        raise InputError(problem, file=file, hint=HINT)


def require_registered(config: Params, file: str | Path) -> None:
    """
    Raises `InputError` if the class of the model or of a reader is not registered.
    """
    for key, kind in PARTS.items():
        part = config.get(key)
        name = part.get("type") if isinstance(part, Params) else None
        if not isinstance(name, str) or "." in name:  # refused when it is constructed
            continue
        if name not in kind.list_available():
            problem = f"{key}.type: {name!r} is not registered"
            hint = "--include-package registers classes of other packages"
            if name.startswith("elmo_tasks"):
                hint = "import elmo_tasks.plugin first; it registers this package's"
            elif registered_opener() is None:
                hint += (
                    "; the documentation names a package that opens AllenNLP's archives"
                )
            raise InputError(problem, file=file, hint=hint)


def data_loader(
    archive: Archive,
    file: str | Path,
    *,
    batch_size: int | None = None,
    part: Part = WHOLE,
) -> DataLoader:
    """
    The archive's data loader for validation, on all instances of another file or of a
    part of it, perhaps with batches of another size. Warns of `max_instances`.
    """
    most = archive.validation_dataset_reader.max_instances
    if most is not None:
        logger.warning("%s: dataset_reader.max_instances: at most %d read", file, most)
    key = "validation_data_loader"
    if not archive.config.get(key):
        key = "data_loader"
    params = archive.config.get(key)
    if not isinstance(params, Params):
        params = Params({"type": params})
    params = params.duplicate()
    params.params.pop("batches_per_epoch", None)
    if batch_size is not None:
        sampler = params.get("batch_sampler")
        if sampler is not None and "batch_size" in sampler:
            sampler["batch_size"] = batch_size
        else:  # one without batch size, of AllenNLP, is left out
            params.params.pop("batch_sampler", None)
            params["batch_size"] = batch_size
    if part != WHOLE:
        params.params |= {"type": SHARE_LOADER, "part": list(part), "share": 1.0}
    for batches in (params, params.get("batch_sampler")):
        if isinstance(batches, Params):
            batches.params.pop("drop_last", None)
    with (
        constructing(f"{_OF_MODEL}: {key}", data=str(file)),
        registered_alone(),
    ):
        loader = DataLoader.from_params(
            params, reader=archive.validation_dataset_reader, data_path=str(file)
        )
    loader.index_with(archive.model.vocab)
    loader.set_target_device(next(archive.model.parameters()).device)
    return loader


def score(
    archive: Archive,
    file: str | Path,
    *,
    batch_size: int | None = None,
    predictions: Path | None = None,
    part: Part = WHOLE,
) -> dict[str, Any]:
    """
    The metrics of an archive on a file, or on a part of its units as `ShareDataLoader`
    has it. They do not depend on the batches. The evaluator of its config, or else that
    of its model, writes the predictions, if a file is given. Raises `InputError` if the
    config, with its overrides, has invalid values, or if nothing or everything is in
    the part.
    """
    config = archive.config.duplicate()
    spread_seed(config)
    prepare_environment(config)
    device = next(archive.model.parameters()).device
    default = getattr(archive.model, "default_evaluator", None) or {}
    given = {"evaluation": config.params.get("evaluation") or default}
    with constructing(f"{_OF_MODEL}: evaluation"), registered_alone():
        options = params_of(given, "evaluation")
        options["cuda_device"] = -1 if device.type == "cpu" else device.index
        evaluator = Evaluator.from_params(options)
    with loss_of_pass(archive.model) as losses:
        loader = data_loader(archive, file, batch_size=batch_size, part=part)
        found = evaluator(archive.model, loader, predictions_output_file=predictions)
    scores = dict(found)
    if losses.is_known:
        scores.pop("loss", None)
    if losses.count:  # else nothing has a loss, such as gold tags that are all unknown
        scores["loss"] = losses.mean
    return scores


@contextmanager
def _no_standard_input() -> Iterator[None]:
    """Transformers asks there whether to run a model's code."""
    try:
        saved = os.dup(0)
    except OSError:  # closed
        yield
        return
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(saved, 0)
        os.close(saved)


def required_state(weights: Path, file: str | Path) -> Mapping[str, Any]:
    """
    The weights of the archive `file`, whose tensors may be read later. Raises
    `InputError` unless they are a state dictionary.
    """
    name = f"the archive's {weights.name}"
    try:
        state = load_tensors(weights, mapped=True)
        is_mapping = isinstance(state, Mapping)
        if not is_mapping or not all(isinstance(key, str) for key in state):
            raise TypeError(f"expected tensors by name, got {type(state).__name__}")
        return state
    except InputError as error:
        raise InputError(f"{name}: {error}", file=file) from None
    except FileNotFoundError:
        problem = f"the archive lacks {WEIGHTS}"
        raise InputError(problem, file=file, hint=HINT) from None
    except UnpicklingError as error:
        # PyTorch's advice is to read the file without its protection.
        problem = f"{name} is damaged, or contains more than tensors"
        raise InputError(problem, file=file, hint=HINT) from error
    except DAMAGED as error:
        reason = str(error).split("\n")[0] or type(error).__name__
        problem = f"{name} is damaged: {reason}"
        raise InputError(problem, file=file, hint=HINT) from error


@contextmanager
def explained(file: str | Path) -> Iterator[None]:
    """
    Raises `InputError` for errors of AllenNLP's loading, which are about the archive
    `file` or the overrides.
    """
    try:
        yield
    except (InputError, torch.OutOfMemoryError):
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        reason = str(error).strip().split("\n")[0]  # transformers' are long
        problem = f"no model can be built from the archive: {reason}"
        hint = "restore the file, or say where it is now: -o (Python: overrides=)"
        raise InputError(problem, file=file, hint=hint) from error
    except UNFIT as error:
        for cause in causes(error):
            if isinstance(cause, InputError):  # AllenNLP tried several types
                raise InputError(str(cause.args[-1])) from error
        lines = [line.strip() for line in str(error).split("\n")]
        kind = type(error).__name__
        problem = f"no model can be built from the archive: {kind}: {lines[0]}"
        hint = "ELMO_TASKS_TRACEBACK=1 shows the traceback"
        if lines[0].startswith(STATE_PREFIXES):
            what = lines[1] if len(lines) > 1 else lines[0]
            problem = f"the weights do not fit the configuration: {what}"
            hint = (
                "overrides (-o) of a trained model must change neither its sizes "
                "nor where ELMo is added; without overrides, the archive lacks a file"
                " of its vocabulary, or has files of another model"
            )
        raise InputError(problem, file=file, hint=hint) from error
