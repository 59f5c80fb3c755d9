"""Tagged files in three forms, and one clear error for what is none of them."""

from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.probing.tagged import read_tagged
from tests.tiny import FIXTURES

POS = FIXTURES / "pos"
ROW = "{}\t{}\t_\t_\t{}\t_\t_\t_\t_\t_\n"


def test_the_same_sentences_in_two_forms() -> None:
    from_columns, from_lines = (list(read_tagged(POS / name)) for name in ("train.conllu", "train.slash"))
    assert from_columns == from_lines and len(from_columns) == 12
    assert from_columns[9].words[5:7] == ["(", "it"] and from_columns[9].tags[5:7] == ["-LRB-", "PRP"]
    assert from_columns[6].words[1:3] == ["captain", "'s"], "the row of captain's stands for two words"


def test_underscores() -> None:
    assert list(read_tagged(POS / "dev.underscore")) == list(read_tagged(POS / "dev.conllu"))


def test_the_last_mark_parts_word_and_tag(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("1\\/2/CD and\\/or/CC //:\n")
    (sentence,) = read_tagged(file)
    assert (sentence.words, sentence.tags) == (["1/2", "and/or", "/"], ["CD", "CC", ":"])
    file.write_text("1/2_CD snake_case_NN\n")
    (sentence,) = read_tagged(file, form="underscore")
    assert (sentence.words, sentence.tags) == (["1/2", "snake_case"], ["CD", "NN"])


def test_empty_nodes_and_a_last_line_without_end(tmp_path: Path) -> None:
    file = tmp_path / "x"
    rows = ROW.format(1, "a b", "X") + ROW.format("1.1", "gone", "_") + ROW.format(2, "c", "Y").rstrip("\n")
    file.write_text("# text = a b c\n" + rows)
    assert list(read_tagged(file)) == [(["a b", "c"], ["X", "Y"])]


@pytest.mark.parametrize(
    ("text", "form", "line", "problem"),
    [
        ("a/X b/Y\nc/X d\n", "auto", 2, "word/tag was wanted, found 'd'"),
        ("a/X /Y\n", "slash", 1, "word/tag was wanted, found '/Y'"),
        ("a_X b_\n", "underscore", 1, "word_tag was wanted, found 'b_'"),
        ("\nplain text\n", "auto", 2, "word_tag all along, was wanted, found 'plain text'"),
        (ROW.format(1, "a", "X") + "2\tb\tY\n", "auto", 2, "10 columns with tabs between them were wanted, found 3"),
        (
            ROW.format(1, "a", "X") + ROW.format(3, "b", "X"),
            "auto",
            2,
            "word 2 of the sentence was wanted, found ID",
        ),
        (ROW.format(1, "a", "_"), "auto", 1, "found 'a' and '_'"),
        ("a/X\n", "conllu", 1, "10 columns with tabs between them were wanted, found 1"),
    ],
)
def test_bad_files_are_one_error_with_their_line(tmp_path: Path, text: str, form: str, line: int, problem: str) -> None:
    file = tmp_path / "x.txt"
    file.write_text(text)
    with pytest.raises(InputError, match="want") as got:
        list(read_tagged(file, form=form))
    assert str(got.value).startswith(f"{file}:{line}: ") and problem in str(got.value)


@pytest.mark.parametrize(("text", "form"), [("\n\n", "auto"), ("# comment\n", "conllu"), ("\n", "slash")])
def test_files_without_sentence(tmp_path: Path, text: str, form: str) -> None:
    file = tmp_path / "x.txt"
    file.write_text(text)
    with pytest.raises(InputError, match="sentence"):
        list(read_tagged(file, form=form))


def test_an_unknown_form() -> None:
    with pytest.raises(InputError, match="format must be one of auto, conllu, slash, underscore, found 'xml'"):
        list(read_tagged(POS / "dev.conllu", form="xml"))
