"""A trained language model -> files: the official biLM, and what perplexity and fine-tuning need besides."""

import json
import pickle
import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.locations import local_path
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write_folder
from elmo_tasks.formats.hdf5 import own_dataset, reading, write_hdf5
from elmo_tasks.formats.unpacking import ARCHIVED, unpack
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.vocabulary import WordVocabulary

OPTIONS_FILE, WEIGHT_FILE = "options.json", "weights.hdf5"
VOCABULARY_FILE, SOFTMAX_FILE = "vocabulary.txt", "softmax.hdf5"
EXPORTED = (OPTIONS_FILE, WEIGHT_FILE, VOCABULARY_FILE, SOFTMAX_FILE)

TUNED_TYPE = "elmo_tasks_tuned_bilm"
MODEL_TYPES = ("elmo_tasks_bilm", TUNED_TYPE)
"""Registered models whose runs can be exported; the config of the second names the biLM that it started from."""

_CHECKPOINT = re.compile(r"model_state_e(\d+)_b(\d+)\.th")
_PREFIX = "language_model."


class TrainedModel(NamedTuple):
    """A language model in evaluation mode, its vocabulary, and the file of its weights."""

    model: BiLanguageModel
    vocabulary: WordVocabulary
    source: Path


def export_run(run: str | Path, out_dir: str | Path, *, mantissa_bits: int | None = None) -> Path:
    """
    Write `options.json`, `weights.hdf5` (official format), `vocabulary.txt` and `softmax.hdf5` (`softmax/W` [V, P],
    `softmax/b` [V]) of a run's folder, finished or not, or of its `model.tar.gz`. Returns the file of the weights.

    The folder is created if necessary; its other files are kept. All four files are new or none. With `mantissa_bits`,
    numbers are rounded to so many bits (0..23) after the leading one, which makes the files smaller.

    Raises `InputError` if the run has no usable weights, or the folder cannot be written.
    """
    if mantissa_bits is not None and not 0 <= mantissa_bits <= 23:
        raise InputError(f"expected mantissa bits from 0 to 23, got {mantissa_bits}")
    trained = load_run(run)
    with atomic_write_folder(Path(out_dir)) as folder:
        write_exported(trained.model, trained.vocabulary, folder, mantissa_bits=mantissa_bits)
    return trained.source


def write_exported(
    model: BiLanguageModel, vocabulary: WordVocabulary, folder: Path, *, mantissa_bits: int | None = None
) -> None:
    """Write the four files of `export_run` into an existing folder, each atomically."""
    model.bilm.save_files(folder / OPTIONS_FILE, folder / WEIGHT_FILE, mantissa_bits=mantissa_bits)
    vocabulary.save(folder / VOCABULARY_FILE)
    arrays = {name: tensor.detach().float().cpu().numpy() for name, tensor in _softmax_arrays(model.softmax).items()}
    write_hdf5(arrays, folder / SOFTMAX_FILE, mantissa_bits=mantissa_bits)


def load_exported(folder: str | Path) -> tuple[BiLanguageModel, WordVocabulary]:
    """
    The language model of an exported folder, in evaluation mode and trainable.

    Raises `InputError` if a file is missing, damaged, or does not match the others.
    """
    place = Path(folder)
    missing = [name for name in EXPORTED if not (place / name).is_file()]
    if missing:
        problem = f"expected an exported language model, missing: {', '.join(missing)}"
        raise InputError(problem, file=place, hint="`elmo-tasks bilm export` writes all files")
    bilm = BiLM.from_files(place / OPTIONS_FILE, place / WEIGHT_FILE).requires_grad_(True)
    vocabulary = WordVocabulary.from_file(place / VOCABULARY_FILE)
    softmax = OutputSoftmax(len(vocabulary), bilm.options.projection_dim)
    _fill_softmax(softmax, place / SOFTMAX_FILE)
    return BiLanguageModel(bilm, softmax).eval(), vocabulary


def load_trained(place: str | Path) -> TrainedModel:
    """
    The language model of an exported folder, also as `hf://owner/name`, of a run's folder or an archive. Raises
    `InputError`.
    """
    if str(place).startswith("hf://"):
        place = [local_path(f"{place}/{name}") for name in EXPORTED][0].parent
    folder = Path(place)
    if not (folder / "config.json").is_file() and any((folder / name).is_file() for name in EXPORTED):
        return TrainedModel(*load_exported(folder), folder / WEIGHT_FILE)
    return load_run(place)


def load_run(run: str | Path) -> TrainedModel:
    """
    The language model of a run's folder (its best weights, else its latest checkpoint) or of an archive.

    Raises `InputError` if `run` is neither, has another kind of model, or no complete weights yet.
    """
    place = Path(run)
    if not place.exists():
        raise InputError("expected the folder or archive of a run, got nothing", file=place)
    with _run_folder(place) as folder:
        options = _options(folder, place)
        vocabulary = WordVocabulary.from_file(_existing(folder / "vocabulary" / "words.txt", place))
        weights = _best_weights(folder, place)
        model = BiLanguageModel(BiLM(options), OutputSoftmax(len(vocabulary), options.projection_dim)).eval()
        _load_weights(model, weights, place)
    return TrainedModel(model, vocabulary, weights if folder == place else place)


@contextmanager
def _run_folder(place: Path) -> Iterator[Path]:
    """The folder itself, or a temporary folder with the contents of an archive."""
    if place.is_dir():
        yield place
        return
    with tempfile.TemporaryDirectory() as name:
        unpack(place, name, ARCHIVED, file=place)
        yield Path(name)


def _existing(file: Path, place: Path) -> Path:
    if not file.is_file():
        raise InputError(f"expected a run of `elmo-tasks train`, {file.name} is missing", file=place)
    return file


def _options(folder: Path, place: Path) -> BiLMOptions:
    config = _existing(folder / "config.json", place)
    try:
        model = json.loads(config.read_text("utf-8"))["model"]
        kind, options = model["type"], model.get("options", {})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"config.json has no model: {error}", file=place) from None
    if kind not in MODEL_TYPES:
        raise InputError(f"expected a run of {' or '.join(MODEL_TYPES)}, got {kind}", file=place)
    if kind == TUNED_TYPE:
        own, started_from = folder / OPTIONS_FILE, Path(str(model.get("bilm"))) / OPTIONS_FILE
        return BiLMOptions.from_file(own if own.is_file() else _existing(started_from, place))
    return BiLMOptions.from_dict(options)


def _best_weights(folder: Path, place: Path) -> Path:
    """`weights.th` of an archive, `best.th` of a run, else its latest checkpoint; incomplete files are skipped."""
    checkpoints = [(_CHECKPOINT.fullmatch(path.name), path) for path in folder.iterdir()]
    numbered = [(int(match[1]), int(match[2]), path) for match, path in checkpoints if match]
    latest_first = [path for *_, path in sorted(numbered, reverse=True)]
    for path in (folder / "weights.th", folder / "best.th", *latest_first):
        if path.is_file() and zipfile.is_zipfile(path):
            return path
    raise InputError("no complete weights yet: expected best.th or a checkpoint", file=place)


def _load_weights(model: BiLanguageModel, weights: Path, place: Path) -> None:
    try:
        state = torch.load(weights, map_location="cpu", weights_only=True)
        own = {key.removeprefix(_PREFIX): value for key, value in state.items() if key.startswith(_PREFIX)}
        model.load_state_dict(own)
    except (RuntimeError, OSError, pickle.UnpicklingError, AttributeError) as error:
        raise InputError(f"{weights.name} does not have this model's weights: {error}", file=place) from None


def _softmax_arrays(softmax: OutputSoftmax) -> dict[str, torch.Tensor]:
    return {"softmax/W": softmax.weight, "softmax/b": softmax.bias}


@torch.no_grad()
def _fill_softmax(softmax: OutputSoftmax, file: Path) -> None:
    for name, parameter in _softmax_arrays(softmax).items():
        values = _array(file, name, tuple(parameter.shape))
        if not np.isfinite(values).all():
            raise InputError(f"expected finite numbers in {name}", file=file)
        parameter.copy_(torch.from_numpy(values))


def _array(file: Path, name: str, shape: tuple[int, ...]) -> np.ndarray:
    with reading(file, f"the dataset {name} cannot be read"), h5py.File(file, "r") as stored:
        dataset = own_dataset(stored, name)
        found = dataset.shape  # checked before it is read: a damaged file may declare any size
        if found == shape:
            return np.asarray(dataset[...], dtype=np.float32)
    raise InputError(f"expected {name} of shape {shape}, got {found}", file=file)
