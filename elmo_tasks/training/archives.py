"""Loading an archive (`model.tar.gz`) or the folder of a run: nothing in it is executed, each fault is one error."""

import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from allennlp.common import Params, Registrable
from allennlp.common.util import prepare_environment
from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator
from allennlp.models import archival
from allennlp.models.archival import Archive

from elmo_tasks.elmo.allocation import parameters_of_at_most
from elmo_tasks.elmo.source_files import sources_in
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import downloads, local_path
from elmo_tasks.formats.tensor_files import check_tensor_file, is_zip
from elmo_tasks.formats.unpacking import require_regular, unpack
from elmo_tasks.run_names import ARCHIVE, ARCHIVED, CONFIG, META, VOCABULARY, WEIGHTS
from elmo_tasks.training.checks.files import DATA_PATHS
from elmo_tasks.training.checks.problem import below, items
from elmo_tasks.training.checks.schema import evaluation_problems
from elmo_tasks.training.pass_loss import loss_of_pass
from elmo_tasks.training.run_folder import RunFolder
from elmo_tasks.training.vocabulary import require_namespaces

HINT = "copy it again, or write it again with `elmo-tasks train --recover`"
STATE_PREFIXES = ("Error(s) in loading state_dict", "Error loading state dict")
DATA_LOADERS = ("data_loader", "validation_data_loader")

_MOST_JSON = 2**20  # bytes
_FEW_WORDS = 100_000
_SMALL_MODEL = 2**26  # bytes of parameters that any archive may describe


def load_archive(
    file: str | Path,
    *,
    cuda_device: int = -1,
    overrides: str = "",
    weights_file: str | None = None,
    allow_downloads: bool = False,
) -> Archive:
    """
    AllenNLP's `load_archive`, which also constructs any class that a config names, executes its Jsonnet, and unpacks to
    any path. What the config names is fetched with `allow_downloads` alone; what was fetched before is used. Raises
    `InputError` if the archive is damaged or unsafe, needs a download, or the overrides do not fit.
    """
    if weights_file:
        require_regular(weights_file)
    with (
        unpacked(file) as folder,
        explained(file),
        _no_standard_input(),
        downloads(allowed=allow_downloads),
    ):
        require_namespaces(Path(folder), file)
        weights = Path(weights_file or archival.get_weights_path(folder))
        size, count = _require_state(weights, file)
        with parameters_of_at_most(2 * size + _SMALL_MODEL, 4 * count + 1000):
            return archival.load_archive(folder, cuda_device, overrides, weights_file)


def data_loader(
    archive: Archive, file: str | Path, *, batch_size: int | None = None
) -> DataLoader:
    """
    The archive's data loader for validation, on all instances of another file, perhaps with batches of another size.
    """
    params = (
        archive.config.get("validation_data_loader") or archive.config["data_loader"]
    ).duplicate()
    params.params.pop("batches_per_epoch", None)
    if batch_size is not None:
        _set_batch_size(params, batch_size)
    for batches in (params, params.get("batch_sampler")):
        if isinstance(batches, Params):
            batches.params.pop("drop_last", None)
    loader = DataLoader.from_params(
        params, reader=archive.validation_dataset_reader, data_path=str(file)
    )
    loader.index_with(archive.model.vocab)
    loader.set_target_device(next(archive.model.parameters()).device)
    return loader


def _set_batch_size(loader: Params, batch_size: int) -> None:
    """In the config of a data loader, or of its sampler; one without batch size, of AllenNLP, is left out."""
    sampler = loader.get("batch_sampler")
    if sampler is not None and "batch_size" in sampler:
        sampler["batch_size"] = batch_size
        return
    loader.params.pop("batch_sampler", None)
    loader["batch_size"] = batch_size


def score(
    archive: Archive,
    file: str | Path,
    *,
    batch_size: int | None = None,
    predictions: Path | None = None,
) -> dict[str, Any]:
    """
    The metrics of an archive on a file, which do not depend on the batches; the evaluator of its config writes the
    predictions, if a file is given. Raises `InputError` if the config, with its overrides, has invalid values.
    """
    config = archive.config.duplicate()
    if problems := evaluation_problems(config.as_dict(quiet=True)):
        listed = "; ".join(map(str, problems))
        raise InputError(f"the model's config, with its overrides: {listed}")
    prepare_environment(config)
    device = next(archive.model.parameters()).device
    options = config.pop("evaluation", {})
    if isinstance(options, str):
        options = Params({"type": options})
    options["cuda_device"] = -1 if device.type == "cpu" else device.index
    loader = data_loader(archive, file, batch_size=batch_size)
    evaluator = Evaluator.from_params(options)
    with loss_of_pass(archive.model) as losses:
        found = evaluator(archive.model, loader, predictions_output_file=predictions)
    scores = dict(found)
    if losses.is_known:
        scores.pop("loss", None)
    if losses.count:  # else nothing has a loss, such as gold tags that are all unknown
        scores["loss"] = losses.mean
    return scores


@contextmanager
def unpacked(file: str | Path) -> Iterator[Path]:
    """
    A temporary folder with the contents of an archive, or with links to those of a run's folder; its config is checked,
    and plain JSON without a layer cache. Raises `InputError` if the archive is damaged or unsafe.
    """
    folder = Path(tempfile.mkdtemp())
    try:
        source = local_path(file)
        if not source.exists():
            raise FileNotFoundError(f"file {file} not found")
        if (source / ARCHIVE).is_file() and not (source / CONFIG).is_file():
            source = source / ARCHIVE  # all that is left of a run
        _gather(source, folder)
        config = folder / CONFIG
        config.write_text(archived_config(config.read_bytes(), file), "utf-8")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _gather(source: Path, folder: Path) -> None:
    if source.is_dir():
        for path in _archived(source):
            require_regular(path)
            place = folder / path.relative_to(source)
            place.parent.mkdir(exist_ok=True)
            if path.name == CONFIG:
                shutil.copy(path, place)
            else:
                place.symlink_to(path.absolute())
    else:
        unpack(source, folder, ARCHIVED, file=source)
    sound = {
        CONFIG: (folder / CONFIG).is_file(),
        VOCABULARY: (folder / VOCABULARY).is_dir(),
    }
    if lacking := [name for name, is_there in sound.items() if not is_there]:
        raise InputError(
            f"the archive lacks {', '.join(lacking)}", file=source, hint=HINT
        )
    for name in (CONFIG, META):
        if (folder / name).is_file() and (folder / name).stat().st_size > _MOST_JSON:
            problem = f"expected a {name} of at most {_MOST_JSON:,} bytes"
            raise InputError(f"{problem} in the archive, got more", file=source)
    if source.is_file():
        _require_few_words(folder / VOCABULARY, source)


def _require_few_words(vocabulary: Path, source: Path) -> None:
    """Raises `InputError` for a vocabulary of more lines than the archive has bytes: each takes AllenNLP 100 bytes."""
    most, lines = max(_FEW_WORDS, source.stat().st_size), 0
    for file in vocabulary.iterdir():
        with file.open("rb") as opened:
            while part := opened.read(2**20):
                lines += part.count(b"\n")
    if lines > most:
        problem = f"expected vocabularies of at most {most:,} words, got {lines:,}"
        raise InputError(problem, file=source)


def _archived(run: Path) -> Iterator[Path]:
    """What an archive of a run's folder has. A hidden file, such as a lock, is of a process that uses the folder."""
    vocabulary = RunFolder(run).vocabulary()
    for pattern in ARCHIVED:
        for path in run.glob(pattern):
            is_foreign = path.parent == run / VOCABULARY and path not in vocabulary
            if not path.name.startswith(".") and not is_foreign:
                yield path


def archived_config(content: bytes, file: str | Path) -> str:
    """
    The config of an archive as canonical JSON, without the folder of the layer cache. Raises `InputError` if it is not
    a JSON object, or names code to run: a class by its Python path instead of its registered name, another archive.
    """
    try:
        config = dict(json.loads(content))
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"the archive's {CONFIG} is no JSON object: {error}",
            file=file,
            hint=HINT,
        ) from None
    registered = {name for names in Registrable._registry.values() for name in names}
    for path, key, value in _leaves("", "", config):
        if path not in DATA_PATHS and _names_code(key, value, registered):
            raise InputError(
                f"the archive's {CONFIG} names code to run, {path}: {value!r}",
                file=file,
                hint="expected a registered name; --include-package registers more",
            )
    for loader in (config.get(name) for name in DATA_LOADERS):
        if isinstance(
            loader, dict
        ):  # `evaluate` names the data, and starts no processes that an archive asks for
            loader.pop("data_path", None)
            loader.pop("num_workers", None)
    if isinstance(model := config.get("model"), dict) and isinstance(
        elmo := model.get("elmo"), dict
    ):
        elmo.pop("cache_dir", None)
    return json.dumps(config, indent=1)


def _leaves(path: str, key: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Path, key and value of everything in a config; the items of a list have the key of the list."""
    yield path, key, value
    for name, part in items(value):
        yield from _leaves(
            below(path, name), name if isinstance(name, str) else key, part
        )


def _names_code(key: str, value: Any, registered: set[str]) -> bool:
    if key in ("_pretrained", "trust_remote_code"):
        return bool(value)
    if not isinstance(value, str) or value in registered - {"from_archive"}:
        return False
    if key == "type":
        return "." in value or value == "from_archive"
    if "." not in value or "/" in value:  # AllenNLP imports no other name
        return False
    try:
        return importlib.util.find_spec(value.partition(".")[0]) is not None
    except (ImportError, ValueError, AttributeError):
        return True


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


def _require_state(weights: Path, file: str | Path) -> tuple[int, int]:
    """
    The size of the weights of the archive `file`, and the number of their tensors. Raises `InputError` unless they are
    a state dictionary.
    """
    try:
        check_tensor_file(weights)
        state = torch.load(
            weights, map_location="cpu", mmap=is_zip(weights), weights_only=True
        )
        if not isinstance(state, Mapping) or not all(
            isinstance(key, str) for key in state
        ):
            raise TypeError(f"expected tensors by name, got {type(state).__name__}")
        if Path(file).is_file():
            for source in sources_in(state):
                source.require_bounded(Path(file).stat().st_size)
        return weights.stat().st_size, len(state)
    except InputError as error:
        raise InputError(f"the archive's {weights.name}: {error}", file=file) from None
    except FileNotFoundError:
        raise InputError(f"the archive lacks {WEIGHTS}", file=file, hint=HINT) from None
    except (
        UnpicklingError
    ) as error:  # PyTorch's advice is to read the file without its protection
        raise InputError(
            f"the archive's {weights.name} is damaged, or has more than tensors",
            file=file,
            hint=HINT,
        ) from error
    except (
        *(RuntimeError, OSError, EOFError, MemoryError),
        *(TypeError, ValueError, LookupError, AttributeError),
    ) as error:
        reason = str(error).split("\n")[0] or type(error).__name__
        raise InputError(
            f"the archive's {weights.name} is damaged: {reason}", file=file, hint=HINT
        ) from error


@contextmanager
def explained(file: str | Path) -> Iterator[None]:
    """Raises `InputError` for errors of AllenNLP's loading, which are about the archive `file` or the overrides."""
    try:
        yield
    except (InputError, torch.OutOfMemoryError):
        raise
    except (
        *(RuntimeError, MemoryError, TypeError),
        *(ValueError, LookupError, AttributeError),
    ) as error:
        first, *rest = map(str.strip, str(error).split("\n"))
        problem = (
            f"no model can be built from the archive: {type(error).__name__}: {first}"
        )
        hint = "ELMO_TASKS_TRACEBACK=1 shows the traceback"
        if first.startswith(STATE_PREFIXES):
            problem = f"the weights do not fit the configuration: {rest[0] if rest else first}"
            hint = "overrides (-o) of a trained model must change neither its sizes nor the place of ELMo"
        raise InputError(problem, file=file, hint=hint) from error
