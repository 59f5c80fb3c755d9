"""An opened model -> a folder that `Elmo.from_pretrained` reads, with a model card."""

import shutil
from pathlib import Path

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.free_folders import LAST, require_free
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.model_card import CardSettings, card_text, is_own_card
from elmo_tasks.elmo.model_folders import read_beside
from elmo_tasks.elmo.source_types import BILM, COVE
from elmo_tasks.errors import InputError, shown
from elmo_tasks.files import atomic_write_folder
from elmo_tasks.formats.bilm_files import (
    FORMATS,
    Format,
    weight_format,
    written_names,
)
from elmo_tasks.run_names import CARD_FILE


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
    written = _format_of(layers, chosen)
    _require_free(layers, folder, written)
    with atomic_write_folder(folder, last=LAST) as aside:
        _write_files(layers, aside, written)
        if about.is_empty and (folder / CARD_FILE).exists():
            return
        card = own_card(layers)
        if about.is_empty and card is not None:
            shutil.copy(card, aside / CARD_FILE)
        else:
            text = card_text(layers, about, name)
            (aside / CARD_FILE).write_text(text, "utf-8")


def _require_free(layers: Layers, folder: Path, written: Format | None) -> None:
    """Raises `InputError` if a folder does not become that of the model."""
    if written is not None:
        names = list(written_names(written).values())
        require_free(folder, BILM, [*names, CARD_FILE])
        return
    files = layers.opened_files()
    names = [*files.members(), CARD_FILE]
    read = []
    for path in files.paths.values():
        if path.is_dir():
            read += read_beside(path)
    require_free(folder, files.kind, names, read=read)


def own_card(layers: Layers) -> Path | None:
    """The model card beside the files of an opened biLM, if it has one of ours."""
    if layers.files is None or layers.files.kind != BILM:
        return None
    card = layers.files.paths["weight_file"].parent / CARD_FILE
    return card if is_own_card(card) else None


def _format_of(layers: Layers, chosen: Format | None) -> Format | None:
    """The format that is written; `None` for a source that is no biLM."""
    if chosen is not None and chosen not in FORMATS:
        expected = f"one of {', '.join(FORMATS)}"
        raise InputError(f"format: expected {expected}, got {shown(chosen)}")
    if layers.files is not None and layers.files.kind == COVE:
        raise InputError("expected a model in one folder, got CoVe")
    is_copied = layers.files is not None and layers.files.kind != BILM
    if isinstance(layers.source, BiLM) and not is_copied:
        return chosen or _opened_format(layers) or "hdf5"
    if chosen is not None:
        problem = f"format: expected None for the source {layers.label}"
        raise InputError(f"{problem}, whose files are copied, got {chosen!r}")
    return None


def _opened_format(layers: Layers) -> Format | None:
    if layers.files is None or layers.files.kind != BILM:
        return None
    return weight_format(layers.files.paths["weight_file"])


def _write_files(layers: Layers, folder: Path, written: Format | None) -> None:
    opened = _opened_format(layers)
    if layers.files is None and isinstance(layers.source, BiLM):
        _write_bilm(layers.source, folder, written or "hdf5")
    elif opened is None or opened == written:
        layers.opened_files().copy_to(folder)
    else:
        # Not the opened biLM, whose weights may be rounded to bfloat16.
        layers.opened_files().copy_to(folder)
        copies = [folder / name for name in written_names(opened).values()]
        _write_bilm(BiLM.from_files(*copies), folder, written or opened)
        for copied in copies:
            copied.unlink()


def _write_bilm(bilm: BiLM, folder: Path, written: Format) -> None:
    names = written_names(written)
    bilm.save_files(folder / names["options_file"], folder / names["weight_file"])
