"""An opened model -> a folder that `Elmo.from_pretrained` reads, with a model card."""

import logging
import shutil
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from elmo_tasks.bilm.ancestry import Ancestor
from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.card import CardSettings, card_text, is_own_card
from elmo_tasks.elmo.models.files import ModelFiles
from elmo_tasks.elmo.models.lineage import OPEN
from elmo_tasks.elmo.sources.manylangs import ENCODER, WEIGHTS
from elmo_tasks.elmo.sources.transformer_files import PICKLES, SAFETENSORS
from elmo_tasks.elmo.sources.types import BILM, COVE, SOURCES
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import NAMES, Format, weight_format, written_names
from elmo_tasks.formats.fetching.fetch import fits_any
from elmo_tasks.system.files import atomic_write_folder, check_output_path
from elmo_tasks.system.run_names import (
    ARCHIVE,
    BEST,
    CARD_FILE,
    CONFIG,
    META,
    SAFETENSORS_FILE,
    VOCABULARY_FILE,
    WEIGHT_FILE,
)

logger = logging.getLogger(__name__)

LAST = (WEIGHT_FILE, SAFETENSORS_FILE, ENCODER, CONFIG)
"""
The files of models, for `atomic_write_folder`: without those that a model has of them,
nothing reads its other files.
"""

_BILM = NAMES["hdf5"]["options_file"] + NAMES["hdf5"]["weight_file"]
_OTHERS = (CONFIG, ENCODER, WEIGHTS, BEST, ARCHIVE, META)

OF_MODELS = _BILM + (SAFETENSORS, PICKLES) + _OTHERS
"""Patterns of the files that make a folder a model, or a run."""


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
    - `name`: what the card calls the model, unless the opened files have a card.

    Raises `InputError` if the files have changed since they were opened, the source has
    no such format, or the folder cannot be written or has another model. After a kill
    while files are replaced, the folder has no weights.
    """
    converted = _converted_to(layers, chosen)
    if converted is None:
        names = list(layers.opened_files().members())
    else:
        names = list(written_names(converted).values())
    require_free(folder, names + [CARD_FILE], read_with(layers))
    with atomic_write_folder(folder, last=LAST) as aside:
        if converted is None:
            layers.opened_files().copy_to(aside)
        else:
            _write_bilm(_exact_bilm(layers), aside, converted)
        if layers.files is not None and layers.files.vocabulary is not None:
            shutil.copy(layers.files.vocabulary, aside / VOCABULARY_FILE)
        if keeps_card(layers, folder, about):
            return
        if about.is_empty and (aside / CARD_FILE).exists():
            return
        card = own_card(layers.files)
        if about.is_empty and card is not None and not _unnamed(layers, card):
            shutil.copy(card, aside / CARD_FILE)
        else:
            text = card_text(layers, about, name)
            (aside / CARD_FILE).write_text(text, "utf-8")


def require_free(
    folder: Path, written: Collection[str], read: Sequence[str] = ()
) -> None:
    """
    Raises `InputError` if files with the names `written` cannot be written to a folder,
    and as `require_no_other` does.
    """
    for name in written:
        check_output_path(folder / name)
    if folder.is_dir():
        present = [path.name for path in folder.iterdir()]
        require_no_other(present, written, read, folder)


def require_no_other(
    present: Collection[str],
    written: Collection[str],
    read: Sequence[str],
    target: str | Path,
) -> None:
    """
    Raises `InputError` if a folder or repository has files that would be read in place
    of a model that is written there, or with it; `read` are patterns of what is read.
    """
    others = []
    for name in sorted(present):
        if name not in written and fits_any(name, (*OF_MODELS, *read)):
            others.append(name)
    if others:
        raise InputError(
            f"expected no files of another model, got {', '.join(others)}",
            file=target,
            hint="name another folder or repository, or remove them",
        )


def read_with(layers: Layers) -> tuple[str, ...]:
    """Patterns of the files that are read with a model of one folder."""
    if layers.files is None or layers.files.kind == BILM:
        return ()
    return SOURCES[layers.files.kind].patterns


def keeps_card(layers: Layers, folder: Path, about: CardSettings) -> bool:
    """
    Whether a folder keeps its README.md, which a model is written to. Logs a warning if
    it does not name all biLMs from which the model was tuned.
    """
    kept = folder / CARD_FILE
    if not about.is_empty or not kept.exists():
        return False
    warn_of_kept(str(kept), _unnamed(layers, kept))
    return True


def warn_of_kept(card: str, unnamed: Sequence[Ancestor]) -> None:
    """Logs the ancestors that a card which is kept does not name."""
    for one in unnamed:
        logger.warning(
            "kept %s, which does not name %s (sha256 %s; licence: %s), from which this"
            " biLM was tuned",
            card,
            one.name,
            one.sha256,
            one.licence or OPEN,
        )


def _unnamed(layers: Layers, card: Path) -> list[Ancestor]:
    """The ancestors of a model of which a card has no digest."""
    text = card.read_text("utf-8", errors="replace")
    return [one for one in layers.ancestry if str(one.sha256) not in text]


def own_card(files: ModelFiles | None) -> Path | None:
    """The model card beside the files of a biLM, if it has one of ours."""
    if files is None or files.kind != BILM:
        return None
    card = files.weight_file.path.parent / CARD_FILE
    if not is_own_card(card):
        return None
    return card


def _converted_to(layers: Layers, chosen: Format | None) -> Format | None:
    """The format in which a biLM is written; `None` if the opened files are copied."""
    files = layers.files
    if files is None:
        if not isinstance(layers.source, BiLM):
            layers.opened_files()  # raises the error
        return chosen or "hdf5"
    if files.kind == BILM:
        if chosen == weight_format(files.weight_file.path):
            return None
        return chosen
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
    with tempfile.TemporaryDirectory() as temporary:
        copies = Path(temporary)
        files = layers.opened_files()
        files.copy_to(copies)
        options_file, weight_file = files.members()
        return BiLM.from_files(copies / options_file, copies / weight_file)


def _write_bilm(bilm: BiLM, folder: Path, written: Format) -> None:
    names = written_names(written)
    bilm.save_files(folder / names["options_file"], folder / names["weight_file"])
