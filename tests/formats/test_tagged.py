"""CoNLL-U files: their tags, and invalid files."""

from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.tagged import Tag, read_tagged
from elmo_tasks.settings import wrong_values
from tests.tiny import FIXTURES

POS = FIXTURES / "pos"
ROW = "{}\t{}\t_\t_\t{}\t_\t_\t_\t_\t_\n"


def test_multiword_tokens_are_skipped() -> None:
    sentences = list(read_tagged(POS / "train.conllu"))
    assert len(sentences) == 12
    assert sentences[9].words[5:7] == ["(", "it"] and sentences[9].tags[5:7] == [
        "-LRB-",
        "PRP",
    ]
    assert sentences[6].words[1:3] == ["captain", "'s"], (
        "the row of captain's stands for two words"
    )


def test_empty_nodes_and_a_last_line_without_end(tmp_path: Path) -> None:
    file = tmp_path / "x"
    rows = (
        ROW.format(1, "a b", "X")
        + ROW.format("1.1", "gone", "_")
        + ROW.format(2, "c", "Y").rstrip("\n")
    )
    file.write_text("# text = a b c\n" + rows)
    assert list(read_tagged(file)) == [(["a b", "c"], ["X", "Y"], 2)]


def test_tokens_of_several_words_and_nodes(tmp_path: Path) -> None:
    file = tmp_path / "x"
    ids = ["0.1", "1-1", "1", "1.1", "1.2", "2-3", "2", "2.1", "3", "4-10"]
    ids += [str(number) for number in range(4, 11)]
    rows = [ROW.format(one, f"w{one}", "X") for one in ids]
    file.write_text("".join(rows) + "\n" + "".join(rows))
    expected = [f"w{number}" for number in range(1, 11)]
    assert [one.words for one in read_tagged(file)] == [expected, expected]


def test_other_columns(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text(
        "1\ta\tb\tDET\tDT\tCase=Nom|Number=Sing\t0\troot\t_\t_\n2\tc\td\tNOUN\tNN\tNumber=Plur\t1\tobj\t_\t_\n"
    )
    expected = {
        "upos": ["DET", "NOUN"],
        "lemma": ["b", "d"],
        "deprel": ["root", "obj"],
        "feats:Case": ["Nom", "_"],
    }
    assert {tag: next(read_tagged(file, tag=tag)).tags for tag in expected} == expected
    with pytest.raises(InputError, match="tag: expected one of .* got 'pos'"):
        next(read_tagged(file, tag="pos"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\nplain text\n", ":2: expected 10 columns .* got 1"),
        (ROW.format(1, "a", "X") + "2\tb\tY\n", ":2: expected 10 columns .* got 3"),
        (
            ROW.format(1, "a", "X") + ROW.format(3, "b", "X"),
            ":2: expected ID 2, got '3'",
        ),
        (ROW.format(1, "a", "_"), ":1: .*got 'a' and '_'"),
        *(
            (
                ROW.format(1, "a", "X") + ROW.format(one, "b", "X"),
                f":2: expected ID 2, got '{one}'",
            )
            for one in (
                "2.",
                "-2",
                ".2",
                "5-9",
                "1-2",
                "2-1",
                "2.1",
                "1.0",
                "02",
                "2-",
                "0-2",
                "1-1.2",
                "²",
                "٢",
            )
        ),
        (
            ROW.format("1-3", "ab", "_")
            + ROW.format(1, "a", "X")
            + ROW.format(2, "b", "X"),
            ":1: expected words 1 to 3, got 2 words",
        ),
        (
            ROW.format("1-2", "ab", "_")
            + ROW.format(1, "a", "X")
            + ROW.format("2-3", "bc", "_"),
            ":3: expected ID 2, got '2-3'",
        ),
        (
            ROW.format("1-3", "abc", "_")
            + ROW.format(1, "a", "X")
            + ROW.format("2-2", "b", "_"),
            ":3: expected ID 2, got '2-2'",
        ),
    ],
)
def test_invalid_files(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(InputError, match=problem):
        list(read_tagged(tmp_path / "x.txt"))


def test_the_lemma_of_an_underscore(tmp_path: Path) -> None:
    row = "{}\t{}\t{}\tSYM\tSYM\t_\t_\tdep\t_\t_\n"
    file = tmp_path / "x"
    file.write_text(row.format(1, "_", "_") + row.format(2, "a", "a"))
    (sentence,) = read_tagged(file, tag="lemma")
    assert (sentence.words, sentence.tags) == (["_", "a"], ["_", "a"])
    file.write_text(row.format(1, "_", "_") + row.format(2, "a", "_"))
    with pytest.raises(InputError, match=":2: .*its lemma, got 'a' and '_'"):
        list(read_tagged(file, tag="lemma"))


@pytest.mark.parametrize("tag", ["lemma", "upos", "xpos", "deprel", "feats:Case"])
def test_tags(tag: str) -> None:
    assert wrong_values("tag", Tag, tag) == []


@pytest.mark.parametrize("tag", ["", "feats", "form", "UPOS", "head"])
def test_other_tags(tag: str, tmp_path: Path) -> None:
    expected = "one of lemma, upos, xpos, deprel, feats:NAME"
    [wrong] = wrong_values("tag", Tag, tag)
    assert wrong.expected == expected
    with pytest.raises(InputError, match=f"tag: expected {expected}, got '{tag}'"):
        list(read_tagged(tmp_path / "none", tag=tag))


def test_comments_and_blank_lines(tmp_path: Path) -> None:
    """A line of ten columns is a word, whatever it begins with."""
    file = tmp_path / "x"
    one, two = ROW.format(1, "a", "X"), ROW.format(1, "b", "Y")
    file.write_text(f"\n \t\n# c\n\n{one}# within\n \n\t\n\n#\tx\n{two}")
    assert [found.words for found in read_tagged(file)] == [["a"], ["b"]]
    file.write_text(one + ROW.format("#", "c", "Z"))
    with pytest.raises(InputError, match=":2: expected ID 2, got '#'"):
        list(read_tagged(file))
    file.write_text("# c\n\n")
    with pytest.raises(InputError, match="x: no sentence found in CoNLL-U"):
        list(read_tagged(file))


def test_values_of_features(tmp_path: Path) -> None:
    file = tmp_path / "x"
    features = ["Case=Nom|Number=Sing", "_", "Case=", "Number=Plur|Case=Acc"]
    rows = [
        f"{n}\tw\t_\t_\t_\t{one}\t_\t_\t_\t_\n" for n, one in enumerate(features, 1)
    ]
    file.write_text(rows[0] + rows[1] + rows[3].replace("4", "3", 1))
    (found,) = read_tagged(file, tag="feats:Case")
    assert found.tags == ["Nom", "_", "Acc"]
    (found,) = read_tagged(file, tag="feats:Number")
    assert found.tags == ["Sing", "_", "Plur"]
    file.write_text(rows[0] + rows[1] + rows[2])
    with pytest.raises(InputError, match=":3: expected a word and its feats:Case, got"):
        list(read_tagged(file, tag="feats:Case"))


def test_words_are_needed(tmp_path: Path) -> None:
    file = tmp_path / "x"
    for row in (
        ROW.format(1, "", "X"),
        ROW.format(1, " ", "X"),
        ROW.format(1, "a", ""),
    ):
        file.write_text(row)
        with pytest.raises(InputError, match=":1: expected a word and its xpos, got"):
            list(read_tagged(file))
    file.write_text(ROW.format(1, "_", "X"))
    assert list(read_tagged(file)) == [(["_"], ["X"], 1)]
    long = ROW.format("1-1000000000", "a", "X") + ROW.format(1, "a", "X")
    file.write_text(long)
    with pytest.raises(InputError, match=":1: expected ID 1, got '1-1000000000'"):
        list(read_tagged(file))


def test_tokens_of_the_next_sentence(tmp_path: Path) -> None:
    """What a sentence says of its tokens does not last."""
    file = tmp_path / "x"
    token = ROW.format("1-2", "ab", "_")
    words = ROW.format(1, "a", "X") + ROW.format(2, "b", "X")
    file.write_text(f"{token}{words}\n{token}{words}\n{words}")
    assert len(list(read_tagged(file))) == 3
    file.write_text(f"{words}\n{token}{ROW.format(1, 'a', 'X')}\n{words}")
    with pytest.raises(InputError, match=":4: expected words 1 to 2, got 1 words"):
        list(read_tagged(file))
