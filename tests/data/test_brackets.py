"""Brackets that make no spans, told in short."""

import pytest

from elmo_tasks.data.brackets import BracketError, mentions_from_brackets, spans_from_brackets

LONG = "\x1b[31m" * 999


@pytest.mark.parametrize("cell", [f"{LONG}(", f"({LONG}*", f"{LONG})"])
def test_a_long_cell_is_told_in_short(cell: str) -> None:
    for read in (spans_from_brackets, mentions_from_brackets):
        with pytest.raises(BracketError) as caught:
            read([cell])
        assert len(str(caught.value)) < 150 and str(caught.value).isprintable()
