"""An opened model -> a folder that `Elmo.from_pretrained` reads, with a model card."""

import shutil
from collections.abc import Collection
from pathlib import Path

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.card import CardSettings, write_card
from elmo_tasks.elmo.models.kinds import config_in, kinds_among, names_in
from elmo_tasks.elmo.sources.manylangs import ENCODER, WEIGHTS
from elmo_tasks.elmo.sources.transformer_files import PICKLES, SAFETENSORS
from elmo_tasks.elmo.sources.types import BILM, COVE, SOURCES
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import PATTERNS, Format, weight_format, written_names
from elmo_tasks.formats.fetching.fetch import fits_any
from elmo_tasks.system.files import atomic_write_folder, check_output_path
from elmo_tasks.system.run_names import (
    ARCHIVE,
    BEST,
    CARD_FILE,
    CONFIG,
    META,
    SAFETENSORS_FILE,
    SOFTMAX_FILE,
    VOCABULARY_FILE,
    WEIGHT_FILE,
)

LAST = (WEIGHT_FILE, SAFETENSORS_FILE, ENCODER, CONFIG)
"""
The files of models, for `atomic_write_folder`: without those that a model has of them,
nothing reads its other files.
"""

OF_MODELS = (
    *PATTERNS,
    SAFETENSORS,
    PICKLES,
    ENCODER,
    WEIGHTS,
    VOCABULARY_FILE,
    SOFTMAX_FILE,
)
"""Patterns of the files that make a folder a model, or belong to one."""

_OF_RUNS = (BEST, ARCHIVE, META)


def save_model(
    layers: Layers,
    folder: Path,
    *,
    chosen: Format | None,
    about: CardSettings,
    name: str,
) -> None:
    """
    Write the files of a model and its card, all or none; other files of the folder are
    kept, and so is a card that is there, unless `about` says something.

    # Parameters

    - `chosen`: the format of a biLM; `None` for that of the opened files, of which the
      bytes are copied, and for a biLM that was not opened from files the official one.
    - `name`: what the card calls the model.

    Raises `InputError` if the files have changed since they were opened, the source has
    no such format, or the folder cannot be written or has another model. After a kill
    while files are replaced, the folder has no weights.
    """
    files = layers.files
    converted = _converted_to(layers, chosen)
    if converted is None:
        names = list(layers.opened_files().members())
    else:
        names = list(written_names(converted).values())
    beside = [CARD_FILE]
    if files is not None and files.vocabulary is not None:
        beside.append(VOCABULARY_FILE)
    if files is not None and files.weight_file.parent.absolute() == folder.absolute():
        beside.append(SOFTMAX_FILE)  # of this model
    require_free(folder, [*names, *beside], BILM if files is None else files.kind)
    with atomic_write_folder(folder, last=LAST) as aside:
        if converted is None:
            layers.opened_files().copy_to(aside)
        else:
            _exact_bilm(layers).save_files(*[aside / name for name in names])
        if files is not None and files.vocabulary is not None:
            shutil.copy(files.vocabulary, aside / VOCABULARY_FILE)
        write_card(aside, layers, about, kept=folder / CARD_FILE, name=name)


def require_free(folder: Path, written: Collection[str], kind: str = BILM) -> None:
    """
    Raises `InputError` if files with the names `written` cannot be written to a folder,
    or if it has files that would be read in place of a model of this kind that is
    written there, or with it.
    """
    for name in written:
        check_output_path(folder / name)
    if not folder.is_dir():
        return
    patterns = [*OF_MODELS, *_OF_RUNS]
    if kind != BILM:
        patterns += SOURCES[kind].patterns
    present = sorted(names_in(folder).difference(written))
    others = [name for name in present if fits_any(name, patterns)]
    if not others:
        config = None if CONFIG in written else config_in(folder)
        others = present if kinds_among(present, config) else []
    if others:
        raise InputError(
            f"expected no files of another model, got {', '.join(others)}",
            file=folder,
            hint="name another folder, or remove them",
        )


def _converted_to(layers: Layers, chosen: Format | None) -> Format | None:
    """The format in which a biLM is written; `None` if the opened files are copied."""
    files = layers.files
    if files is None and isinstance(layers.source, BiLM):
        return chosen or "hdf5"
    files = layers.opened_files()
    if files.kind == BILM:
        return None if chosen == weight_format(files.weight_file) else chosen
    if files.kind == COVE:
        raise InputError("expected a model in one folder, got CoVe")
    if chosen is not None:
        problem = f"format: expected None for the source {layers.label}"
        raise InputError(f"{problem}, whose files are copied, got {chosen!r}")
    return None


def _exact_bilm(layers: Layers) -> BiLM:
    """The biLM of opened files, of which the weights in memory may be rounded."""
    if layers.files is None and isinstance(layers.source, BiLM):
        return layers.source
    return BiLM.from_files(*layers.opened_files().paths.values())
