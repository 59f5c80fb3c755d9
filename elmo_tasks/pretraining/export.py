"""A trained language model -> files: the official biLM, and beside it what perplexity and fine-tuning need."""

import json
import pickle
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import torch

from elmo_tasks.atomic import atomic_write_folder
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError
from elmo_tasks.hdf5 import own_dataset, reading, write_hdf5
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.vocabulary import WordVocabulary

OPTIONS_FILE, WEIGHT_FILE = "options.json", "weights.hdf5"
VOCABULARY_FILE, SOFTMAX_FILE = "vocabulary.txt", "softmax.hdf5"
EXPORTED = (OPTIONS_FILE, WEIGHT_FILE, VOCABULARY_FILE, SOFTMAX_FILE)

TUNED_TYPE = "elmo_tasks_tuned_bilm"
MODEL_TYPES = ("elmo_tasks_bilm", TUNED_TYPE)
"""Registered models whose runs can be exported; the second's config names the biLM that it began with."""

_WORDS_FILE = "vocabulary/words.txt"
_CHECKPOINT = re.compile(r"model_state_e(\d+)_b(\d+)\.th")
_PREFIX = "language_model."


class TrainedModel(NamedTuple):
    """
    # Parameters

    model : `BiLanguageModel`
        In evaluation mode.
    vocabulary : `WordVocabulary`
    source : `Path`
        The file that the weights came from.
    """

    model: BiLanguageModel
    vocabulary: WordVocabulary
    source: Path


def export_run(run: str | Path, out_dir: str | Path, *, mantissa_bits: int | None = None) -> Path:
    """
    Write `options.json`, `weights.hdf5` (official format), `vocabulary.txt` and `softmax.hdf5` (`softmax/W` [V, P],
    `softmax/b` [V]).

    # Parameters

    run : `str` or `Path`
        A run's folder, while it trains or after it ended however, or its `model.tar.gz`.
    out_dir : `str` or `Path`
        Made if need be; other files in it stay. All four files are new or none.
    mantissa_bits : `int`, optional
        Round weights and softmax to so many bits (0..23) after the leading one, which makes the files smaller.

    # Returns

    The file that the weights came from.

    # Raises

    `InputError` where the run has no usable weights, or the folder cannot be written.
    """
    if mantissa_bits is not None and not 0 <= mantissa_bits <= 23:
        raise InputError(f"mantissa bits must be from 0 to 23, found {mantissa_bits}")
    trained = load_run(run)
    with atomic_write_folder(Path(out_dir)) as folder:
        write_exported(trained.model, trained.vocabulary, folder, mantissa_bits=mantissa_bits)
    return trained.source


def write_exported(
    model: BiLanguageModel, vocabulary: WordVocabulary, folder: Path, *, mantissa_bits: int | None = None
) -> None:
    """Write the four files of `export_run` into an existing folder, each whole or absent."""
    model.bilm.save_files(folder / OPTIONS_FILE, folder / WEIGHT_FILE, mantissa_bits=mantissa_bits)
    vocabulary.save(folder / VOCABULARY_FILE)
    softmax = {
        "softmax/W": model.softmax.weight.detach().float().cpu().numpy(),
        "softmax/b": model.softmax.bias.detach().float().cpu().numpy(),
    }
    write_hdf5(softmax, folder / SOFTMAX_FILE, mantissa_bits=mantissa_bits)


def load_exported(
    folder: str | Path, *, negatives: int | None = None, dropout: float = 0.1, precision: str = "float32"
) -> tuple[BiLanguageModel, WordVocabulary]:
    """
    The language model of an exported folder, in evaluation mode and trainable.

    # Parameters

    negatives, dropout, precision
        Of a further training, as for `OutputSoftmax` and `BiLanguageModel`; files do not hold them.

    # Raises

    `InputError` where a file is missing, damaged, or does not fit the others.
    """
    place = Path(folder)
    missing = [name for name in EXPORTED if not (place / name).is_file()]
    if missing:
        raise InputError(
            f"an exported language model was wanted, missing: {', '.join(missing)}",
            file=place,
            hint="`allennlp bilm export` writes all of them",
        )
    bilm = BiLM.from_files(place / OPTIONS_FILE, place / WEIGHT_FILE).requires_grad_(True)
    vocabulary = WordVocabulary.from_file(place / VOCABULARY_FILE)
    softmax = OutputSoftmax(len(vocabulary), bilm.options.projection_dim, negatives=negatives)
    _fill_softmax(softmax, place / SOFTMAX_FILE)
    return BiLanguageModel(bilm, softmax, dropout=dropout, precision=precision).eval(), vocabulary


def load_trained(place: str | Path) -> TrainedModel:
    """The language model of an exported folder, a run's folder or an archive. Raises `InputError`."""
    folder = Path(place)
    if not (folder / "config.json").is_file() and any((folder / name).is_file() for name in EXPORTED):
        return TrainedModel(*load_exported(folder), folder / WEIGHT_FILE)
    return load_run(place)


def load_run(run: str | Path) -> TrainedModel:
    """
    The language model of a run's folder (its best weights, else its latest checkpoint) or of an archive.

    # Raises

    `InputError` where `run` is neither, holds another kind of model, or no whole weights yet.
    """
    place = Path(run)
    if not place.exists():
        raise InputError("a run's folder or archive was wanted, nothing is there", file=place)
    with _run_folder(place) as folder:
        options = _options(folder, place)
        vocabulary = WordVocabulary.from_file(_found(folder / _WORDS_FILE, place))
        weights = _best_weights(folder, place)
        bilm = BiLM(options)
        softmax = OutputSoftmax(len(vocabulary), options.projection_dim)
        model = BiLanguageModel(bilm, softmax).eval()
        _fill_model(model, weights, place)
    return TrainedModel(model, vocabulary, weights if folder == place else place)


@contextmanager
def _run_folder(place: Path) -> Iterator[Path]:
    """The folder itself, or what an archive holds, unpacked for as long as it is needed."""
    if place.is_dir():
        yield place
        return
    with tempfile.TemporaryDirectory() as name:
        try:
            with tarfile.open(place, "r:gz") as archive:
                archive.extractall(name, filter="data")
        except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
            raise InputError(f"not an archive of a run: {error}", file=place) from None
        yield Path(name)


def _found(file: Path, place: Path) -> Path:
    if not file.is_file():
        raise InputError(f"a run of `allennlp train` was wanted, {file.name} is missing in it", file=place)
    return file


def _options(folder: Path, place: Path) -> BiLMOptions:
    config = _found(folder / "config.json", place)
    try:
        model = json.loads(config.read_text("utf-8"))["model"]
        kind, options = model["type"], model.get("options", {})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"config.json names no model: {error}", file=place) from None
    if kind not in MODEL_TYPES:
        raise InputError(f"a run of {' or '.join(MODEL_TYPES)} was wanted, found {kind}", file=place)
    if kind == TUNED_TYPE:
        return BiLMOptions.from_file(_found(folder / OPTIONS_FILE, place))
    return BiLMOptions.from_dict(options)


def _best_weights(folder: Path, place: Path) -> Path:
    """`weights.th` of an archive, `best.th` of a run, else its latest checkpoint, but no half-written file."""
    candidates = [folder / "weights.th", folder / "best.th"]
    checkpoints = [(_CHECKPOINT.fullmatch(path.name), path) for path in folder.iterdir()]
    numbered = [(int(match[1]), int(match[2]), path) for match, path in checkpoints if match]
    candidates += [path for *_, path in sorted(numbered, reverse=True)]
    for path in candidates:
        if path.is_file() and zipfile.is_zipfile(path):
            return path
    raise InputError(
        "no whole weights yet: neither best.th nor a checkpoint", file=place, hint="wait for the first one"
    )


def _fill_model(model: BiLanguageModel, weights: Path, place: Path) -> None:
    try:
        state = torch.load(weights, map_location="cpu", weights_only=True)
        own = {key.removeprefix(_PREFIX): value for key, value in state.items() if key.startswith(_PREFIX)}
        model.load_state_dict(own)
    except (RuntimeError, OSError, pickle.UnpicklingError, AttributeError) as error:
        raise InputError(f"{weights.name} does not hold this model's weights: {error}", file=place) from None


def _fill_softmax(softmax: OutputSoftmax, file: Path) -> None:
    for name, parameter in (("softmax/W", softmax.weight), ("softmax/b", softmax.bias)):
        values = _array(file, name, tuple(parameter.shape))
        if not np.isfinite(values).all():
            raise InputError(f"{name} holds values that are not finite numbers", file=file)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values))


def _array(file: Path, name: str, wanted: tuple[int, ...]) -> np.ndarray:
    with reading(file, f"the dataset {name} cannot be read"), h5py.File(file, "r") as stored:
        dataset = own_dataset(stored, name)
        found = dataset.shape  # before it is read: any size can be claimed
        if found == wanted:
            return np.asarray(dataset[...], dtype=np.float32)
    hint = f"{VOCABULARY_FILE} and {OPTIONS_FILE} beside it give the wanted shape"
    raise InputError(f"{name} has the shape {found}, {wanted} was wanted", file=file, hint=hint)
