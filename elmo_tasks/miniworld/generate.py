"""
Writing the embedded corpora: a registry of views, and one function that writes them all.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from elmo_tasks.atomic import written_aside
from elmo_tasks.miniworld.coref import coref_files
from elmo_tasks.miniworld.ner import ner_files
from elmo_tasks.miniworld.nli import nli_files
from elmo_tasks.miniworld.qa import qa_files
from elmo_tasks.miniworld.sentiment import sentiment_files
from elmo_tasks.miniworld.srl import srl_files
from elmo_tasks.miniworld.text import text_files

SEED = 13

View = Callable[..., dict[str, str]]

# Each view takes `seed` and gives the text of its files by their paths below the corpus folder.
# A view draws from dice of its own, so that adding one leaves the files of the others unchanged.
VIEWS: dict[str, View] = {
    "lm": text_files,
    "ner": ner_files,
    "snli": nli_files,
    "sst": sentiment_files,
    "srl": srl_files,
    "squad": qa_files,
    "coref": coref_files,
}


def generate_all(*, seed: int = SEED) -> dict[str, str]:
    """
    The text of every file of every view, by its path below the corpus folder.

    # Parameters

    seed : `int`, optional
        The seed of the world; the committed files have the default.
    """
    files: dict[str, str] = {}
    for view in VIEWS.values():
        files.update(view(seed=seed))
    return files


def write_all(folder: str | Path, *, seed: int = SEED) -> None:
    """
    Write every view below `folder`, replacing what the same views wrote there before.

    All files are written aside first and only then renamed, so that a failure leaves none half-written.

    # Parameters

    folder : `str` or `Path`
        The corpus folder, made if need be.
    seed : `int`, optional
        The seed of the world.

    # Raises

    `InputError` where the folder cannot be written or the disk is full; nothing is left half-written.
    """
    with ExitStack() as renamed_together:
        for path, text in generate_all(seed=seed).items():
            aside = renamed_together.enter_context(written_aside(Path(folder) / path))
            aside.write_bytes(text.encode("utf-8"))
