"""Records of the readers: nothing changes them after they are read."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.formats.annotation.columns import read_columns
from elmo_tasks.formats.annotation.ontonotes import read_documents
from elmo_tasks.formats.annotation.trees import parse_tree
from elmo_tasks.formats.corpora import CORPORA, located_name

CONLL = "d 0 0 a DT * - - - - * -\n"


def column_sentence(folder: Path) -> Any:
    (folder / "x").write_text("a O\n")
    return next(read_columns(folder / "x"))


def document(folder: Path) -> Any:
    (folder / "x").write_text(CONLL)
    return next(read_documents(folder / "x"))


def sentence(folder: Path) -> Any:
    return document(folder).sentences[0]


def tree(folder: Path) -> Any:
    return parse_tree("(3 a)")


def data_file(folder: Path) -> Any:
    file = CORPORA["squad"][0]
    assert located_name(folder, file) is None
    return file


RECORDS = [column_sentence, document, sentence, tree, data_file]
SMALL = [column_sentence, document, sentence, tree]


@pytest.mark.parametrize("make", RECORDS)
def test_records_do_not_change(make: Callable[[Path], Any], tmp_path: Path) -> None:
    record = make(tmp_path)
    for field in fields(record):
        value = getattr(record, field.name)
        with pytest.raises(FrozenInstanceError):
            setattr(record, field.name, value)
    assert hash(record) == hash(record)


@pytest.mark.parametrize("make", SMALL)
def test_records_of_which_there_are_many_are_small(
    make: Callable[[Path], Any], tmp_path: Path
) -> None:
    assert not hasattr(make(tmp_path), "__dict__")
