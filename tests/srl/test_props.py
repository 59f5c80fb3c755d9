"""The files that srl-eval.pl reads."""

from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.srl.props import Proposition, props, write_props

FIRST = Proposition("a", 9, 0, "go", ["B-V", "B-A4", "I-A4", "O"])
SECOND = Proposition("a", 9, 3, "see", ["B-A1", "B-R-A1", "B-C-A1", "B-V"])
LATER = Proposition("a", 20, 1, "run", ["O", "B-V"])
TEXT = "go (V*) (A1*)\n- (A4* (R-A1*)\n- *) (C-A1*)\nsee * (V*)\n\n- *\nrun (V*)\n\n"


def test_by_hand_in_any_order() -> None:
    assert props([FIRST, SECOND, LATER]) == TEXT
    assert props([LATER, SECOND, FIRST]) == TEXT
    assert props([]) == ""


def test_a_predicate_without_lemma_is_a_predicate_still() -> None:
    assert props([LATER._replace(lemma="-")]) == "- *\n? (V*)\n\n"


def test_written_whole(tmp_path: Path) -> None:
    write_props(tmp_path / "new" / "dev.props", [SECOND, FIRST, LATER])
    assert (tmp_path / "new" / "dev.props").read_text() == TEXT
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["dev.props"]


def test_not_written_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        write_props(tmp_path / "file" / "dev.props", [FIRST])
