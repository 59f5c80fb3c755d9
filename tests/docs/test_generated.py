"""Generated pages, tables, sentences and pictures are those of the code and the runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from docs import generate
from docs.generate_tables import with_numbers


@pytest.mark.parametrize(
    "files", [generate.files, pytest.param(generate.plans, marks=pytest.mark.slow)]
)
def test_generated_files_are_up_to_date(files: Callable[[], dict[Path, str]]) -> None:
    found = files()
    assert found
    for path, text in found.items():
        assert path.read_text("utf-8") == text, "run make generated"


def test_numbers_of_a_sentence_are_written_where_it_stands() -> None:
    sentence = "SQuAD has {table1:squad-elmo#1}, not {mean table1:squad-elmo#1}."
    page = "First 1.0.\nSQuAD has\n  1,000.5 ± 0.1, not -2."
    expected = "First 1.0.\nSQuAD has\n  63.7, not 63.7."
    assert with_numbers(page, sentence) == expected
    for other in ("", 2 * page):
        with pytest.raises(ValueError, match="expected once, found"):
            with_numbers(other, sentence)
