"""
A trained language model -> files: the official biLM, and what perplexity and
fine-tuning need besides.
"""

import json
import logging
import math
import os
import pickle
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Optional

import h5py
import numpy as np
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.options import Ancestor, Ancestry, BiLMOptions
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.card import NO_CARD, CardSettings, write_card
from elmo_tasks.elmo.models.files import (
    ModelFiles,
    located,
    resolve,
)
from elmo_tasks.elmo.models.kinds import config_in, two_files
from elmo_tasks.elmo.models.lineage import ancestor_of
from elmo_tasks.elmo.models.record import read_record
from elmo_tasks.elmo.models.saving import LAST, require_free
from elmo_tasks.elmo.sources.types import BILM
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import (
    Format,
    is_bilm_config,
    written_names,
)
from elmo_tasks.formats.fetching.fetch import is_hub_model, local_path
from elmo_tasks.formats.fetching.published import BUNDLED, published
from elmo_tasks.formats.hdf5 import own_dataset, reading, write_hdf5
from elmo_tasks.formats.tensor_files import load_tensors
from elmo_tasks.option_values import InferencePrecision, MantissaBits
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary
from elmo_tasks.settings import PathLike, checked
from elmo_tasks.system.files import atomic_write_folder
from elmo_tasks.system.run_names import (
    BEST,
    CARD_FILE,
    CONFIG,
    CURVE,
    LANGUAGE_MODEL,
    OPTIONS_FILE,
    SOFTMAX_FILE,
    VOCABULARY,
    VOCABULARY_FILE,
)

logger = logging.getLogger(__name__)

TUNED_TYPE = "elmo_tasks_tuned_bilm"
MODEL_TYPES = ("elmo_tasks_bilm", TUNED_TYPE)
"""
Registered models whose runs can be exported; the config of the second names the biLM
that it started from.
"""

_PREFIX = "language_model."
"""Of the parameters in the weights of a run."""

_UNUSABLE = (
    RuntimeError,
    OSError,
    ValueError,
    pickle.UnpicklingError,
    AttributeError,
)
"""Errors of loading weights that are damaged or of another model."""


class TrainedModel(NamedTuple):
    """A language model in evaluation mode."""

    model: BiLanguageModel
    vocabulary: WordVocabulary
    source: Path  # the file of its weights


class Start(NamedTuple):
    """
    A biLM from which fine-tuning starts, its language model if the softmax is known,
    and its files with their ancestry.
    """

    bilm: BiLM
    trained: TrainedModel | None
    files: ModelFiles


@checked
def export_run(
    run: PathLike,
    out_dir: PathLike,
    *,
    chosen: Format = "hdf5",
    mantissa_bits: Optional[MantissaBits] = None,
    about: CardSettings = NO_CARD,
) -> Path:
    """
    Write `options.json`, `weights.hdf5` (official format), `vocabulary.txt` and
    `softmax.hdf5` (`softmax/W` [V, P], `softmax/b` [V]) of a run's folder, finished or
    not, all or none; other files of the folder are kept. With the format safetensors,
    the first two are `config.json` and `model.safetensors`. Unless `about` says nothing
    and there is a README.md, a model card is written, too, with the perplexity of the
    run's best validation unless `about` names another. Returns the file of the run's
    weights. With `mantissa_bits`, numbers are rounded to so many bits (0..23) after the
    leading one, which makes compressed files smaller. Raises `InputError` if the run
    has no usable weights, or the folder cannot be written, has files of these names
    that are not those of a biLM, or another model.
    """
    trained = _load_run(Path(run))
    _require_exported(Path(out_dir), chosen)
    with atomic_write_folder(Path(out_dir), last=LAST) as folder:
        write_exported(
            trained.model,
            trained.vocabulary,
            folder,
            chosen=chosen,
            mantissa_bits=mantissa_bits,
        )
        layers = Layers(trained.model.bilm)
        kept = Path(out_dir) / CARD_FILE
        if about.perplexity is None and not (about == NO_CARD and kept.exists()):
            about = _with_perplexity(about, Path(run))
        write_card(folder, layers, about, kept=kept, name=kept.absolute().parent.name)
    return trained.source


def _with_perplexity(about: CardSettings, run: Path) -> CardSettings:
    """
    With the perplexity of the best validation of a run, whose weights are exported, and
    the share of `<UNK>` in it, as far as they are known.
    """
    curve = run / CURVE
    if not curve.is_file():
        return about
    found = []
    try:
        for line in curve.read_text("utf-8").splitlines():
            point = json.loads(line)
            found.append((float(point["perplexity"]), point.get("unknown")))
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(f"expected validations, got {error!r}", file=curve) from None
    if not found:
        return about
    perplexity, unknown = min(found, key=itemgetter(0))
    return replace(about, perplexity=perplexity, unknown_share=unknown)


def exported_names(chosen: Format) -> tuple[str, ...]:
    """The files of an exported language model in a format."""
    return (*written_names(chosen).values(), VOCABULARY_FILE, SOFTMAX_FILE)


def _require_exported(folder: Path, chosen: Format) -> None:
    """
    Raises `InputError` if files cannot be written to a folder, or it has another model,
    or files with the names of a language model's and no biLM.
    """
    names = exported_names(chosen)
    require_free(folder, [*names, CARD_FILE])
    present = [name for name in names if (folder / name).exists()]
    if not present:
        return
    try:
        BiLMOptions.from_file(folder / names[0])
    except InputError:
        expected = f"a folder without {', '.join(present)}, or with an exported biLM"
        hint = "name another"
        raise InputError(f"expected {expected}", file=folder, hint=hint) from None


def write_exported(
    model: BiLanguageModel,
    vocabulary: WordVocabulary,
    folder: Path,
    *,
    chosen: Format = "hdf5",
    mantissa_bits: int | None = None,
) -> None:
    """Write the four files of `export_run` into an existing folder, each atomically."""
    names = written_names(chosen)
    model.bilm.save_files(
        folder / names["options_file"],
        folder / names["weight_file"],
        mantissa_bits=mantissa_bits,
    )
    vocabulary.save(folder / VOCABULARY_FILE)
    arrays = {}
    for name, parameter in _stored_parameters(model.softmax).items():
        arrays[name] = parameter.detach().float().cpu().numpy()
    write_hdf5(arrays, folder / SOFTMAX_FILE, mantissa_bits=mantissa_bits)


@checked
def load_trained(model: Optional[PathLike] = None) -> TrainedModel:
    """
    The language model of an exported folder, its ZIP or `hf://owner/name`, or of a
    run's folder, its best weights; by default, or as `bundled`, the bundled one. In
    evaluation mode and trainable. Raises `InputError` if it is none of these, has no
    weights yet or no softmax, or a file is missing, damaged, or does not match the
    others.
    """
    text = BUNDLED if model is None else os.fspath(model)
    if _is_run(text):
        return _load_run(Path(text))
    if published(text) is not None:
        raise InputError(
            "expected a language model with its softmax, got a biLM without one",
            file=text,
            hint=f"`elmo-tasks bilm export` writes {', '.join(LANGUAGE_MODEL)}",
        )
    files = resolve(text, kind=BILM)
    if is_hub_model(text):
        local_path(f"{text.removesuffix('/')}/{SOFTMAX_FILE}")
    return _load_exported(files)


def packed(
    trained: TrainedModel, precision: InferencePrecision, device: torch.device
) -> TrainedModel:
    """
    The same language model for measuring only, on a device: products of its biLM are in
    `precision`, and its weights are packed where that is faster. The softmax stays in
    float32.
    """
    trained.model.to(device)
    given = trained.model.bilm
    bilm = BiLM(given.options, precision=precision, initialize=False).to(device)
    bilm.load_state_dict(given.state_dict())
    trained.model.bilm = bilm.eval().pack()
    return trained


def _load_exported(files: ModelFiles) -> TrainedModel:
    folder = files.weight_file.parent
    for name in (VOCABULARY_FILE, SOFTMAX_FILE):
        if not (folder / name).is_file():
            problem = f"expected an exported language model, missing: {name}"
            raise InputError(problem, file=folder)
    bilm = _open_bilm(files)
    bilm.requires_grad_(True)
    vocabulary = WordVocabulary.from_file(folder / VOCABULARY_FILE)
    softmax = OutputSoftmax(len(vocabulary), bilm.options.projection_dim)
    _load_softmax(softmax, folder / SOFTMAX_FILE)
    model = BiLanguageModel(bilm, softmax).eval()
    return TrainedModel(model, vocabulary, files.weight_file)


def _load_run(folder: Path) -> TrainedModel:
    weights = folder / BEST
    if not weights.is_file():
        raise InputError(
            f"expected the folder of a run with {BEST}, "
            "which the first validation writes",
            file=folder,
        )
    config = _model_config(folder)
    options = _options(folder, config)
    vocabulary = WordVocabulary.from_file(folder / VOCABULARY / "words.txt")
    softmax = OutputSoftmax(len(vocabulary), options.projection_dim)
    model = BiLanguageModel(BiLM(options), softmax).eval()
    model.bilm.ancestry = _ancestry(folder, config)
    _load_weights(model, weights)
    return TrainedModel(model, vocabulary, weights)


def _model_config(folder: Path) -> dict[str, Any]:
    """What the config of a run says of its model, a biLM."""
    try:
        model = dict(json.loads((folder / CONFIG).read_text("utf-8"))["model"])
        kind = model["type"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"it has no model: {error}", file=folder / CONFIG) from None
    if kind not in MODEL_TYPES:
        raise InputError(
            f"expected a run of {' or '.join(MODEL_TYPES)}, got {kind}", file=folder
        )
    return model


def _options(folder: Path, model: dict[str, Any]) -> BiLMOptions:
    """
    The structure of a run's biLM, from its config or the options that it has kept.
    """
    if model["type"] == TUNED_TYPE:
        file = folder / OPTIONS_FILE
        if not file.is_file():
            start = Path(str(model.get("bilm")))
            file = resolve(start, kind=BILM).paths["options_file"]
        return BiLMOptions.from_file(file)
    return BiLMOptions.from_dict(model.get("options", {}))


def _ancestry(folder: Path, model: dict[str, Any]) -> Ancestry:
    """The biLMs from which that of a run was tuned, as they were when it began."""
    if model["type"] != TUNED_TYPE:
        return ()
    for record in read_record(folder):
        if record.ancestry:
            return record.ancestry
    return (Ancestor(name=str(model.get("bilm"))),)


def _load_weights(model: BiLanguageModel, weights: Path) -> None:
    """Load the parameters of an AllenNLP model, which has ours as `language_model`."""
    try:
        state = load_tensors(weights)
        own = {}
        for key, value in state.items():
            if key.startswith(_PREFIX):
                own[key.removeprefix(_PREFIX)] = value
        model.load_state_dict(own)
    except _UNUSABLE as error:
        raise InputError(
            f"it does not have this model's weights: {error}", file=weights
        ) from None


def _stored_parameters(softmax: OutputSoftmax) -> dict[str, torch.Tensor]:
    """By their names in the official format: [V, P] and [V]."""
    return {"softmax/W": softmax.weight, "softmax/b": softmax.bias}


@torch.no_grad()
def _load_softmax(softmax: OutputSoftmax, file: Path) -> None:
    with reading(file, "the softmax cannot be read"), h5py.File(file, "r") as stored:
        for name, parameter in _stored_parameters(softmax).items():
            dataset = own_dataset(stored, name)
            shape = tuple(parameter.shape)
            # Checked before it is read: a damaged file may declare any size.
            if dataset.shape != shape:
                raise InputError(
                    f"expected {name} of shape {shape}, got {dataset.shape}", file=file
                )
            values = np.asarray(dataset[...], dtype=np.float32)
            if not np.isfinite(values).all():
                raise InputError(f"expected finite numbers in {name}", file=file)
            parameter.copy_(torch.from_numpy(values))


def load_start(start: str | Path) -> Start:
    """
    What fine-tuning starts from: what `load_trained` takes, or any name of a biLM, also
    without a softmax. Raises `InputError` if there is no biLM.
    """
    trained = None
    if _is_run(start):
        run = Path(start)
        trained = _load_run(run)
        paths = {"options_file": run / CONFIG, "weight_file": trained.source}
        files = located(BILM, os.fspath(start), paths)
    else:
        files = resolve(start, kind=BILM)
        has_softmax = (files.weight_file.parent / SOFTMAX_FILE).is_file()
        if has_softmax and two_files(os.fspath(start)) is None:
            trained = _load_exported(files)
    bilm = _open_bilm(files) if trained is None else trained.model.bilm
    ancestry = (ancestor_of(files), *bilm.ancestry)
    return Start(bilm, trained, replace(files, ancestry=ancestry))


def _is_run(name: str | Path) -> bool:
    """Whether a name, unless it is `bundled`, means the folder of a run."""
    config = Path(name) / CONFIG
    is_bundled = os.fspath(name) == BUNDLED
    return (
        not is_bundled
        and config.is_file()
        and not is_bilm_config(config_in(Path(name)))
    )


def _open_bilm(files: ModelFiles) -> BiLM:
    return BiLM.from_files(files.paths["options_file"], files.paths["weight_file"])


@torch.no_grad()
def fill_softmax(
    softmax: OutputSoftmax, words: WordVocabulary, start: TrainedModel | None
) -> bool:
    """
    Copy the rows of the softmax of `start` into a new one: for words in both
    vocabularies their row, for new words the row of `<UNK>`. `<UNK>` and the N new
    words share its probability equally, so that the other words keep theirs: their bias
    is `b_UNK - ln(N + 1)`. Nothing is copied if there is no softmax. New words are
    logged. Returns whether the rows were copied.
    """
    if start is None:
        logger.warning(
            "the biLM has no softmax: initializing one for %s words at random",
            f"{len(words):,}",
        )
        return False
    known = start.vocabulary
    old = start.model.softmax
    rows = torch.tensor([known.id(word) for word in words.words])  # [V]
    softmax.weight.copy_(old.weight[rows])
    softmax.bias.copy_(old.bias[rows])
    if words.words != known.words:
        new = len([word for word in words.words if word not in known.ids])
        softmax.bias[rows == UNKNOWN] -= math.log(new + 1)
        counts = f"{len(words):,} words instead of {len(known):,}"
        message = "new softmax: %s; %s unseen words start as <UNK>"
        logger.info(message, counts, f"{new:,}")
    return True
