"""CoNLL-U files: their tags, and invalid files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.tagged import TaggedSentence, read_tagged
from tests.tiny import FIXTURES

ROW = "{}\t{}\t_\t_\t{}\t_\t_\t_\t_\t_\n"
Read = Callable[..., list[TaggedSentence]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """The sentences of a text."""

    def read_text(text: str, tag: str = "xpos") -> list[TaggedSentence]:
        (tmp_path / "x").write_text(text)
        return list(read_tagged(tmp_path / "x", tag=tag))

    return read_text


def rows(*ids: object, word: str = "w", tag: str = "X") -> str:
    return "".join([ROW.format(one, word, tag) for one in ids])


def test_multiword_tokens_are_skipped() -> None:
    sentences = list(read_tagged(FIXTURES / "pos/train.conllu"))
    assert len(sentences) == 12
    assert sentences[9].words[5:7] == ["(", "it"]
    assert sentences[9].tags[5:7] == ["-LRB-", "PRP"]
    assert sentences[6].words[1:3] == ["captain", "'s"]


def test_empty_nodes_and_a_last_line_without_end(read: Read) -> None:
    text = "# text = a b c\n" + rows(1, word="a b") + rows("1.1", tag="_")
    text += rows(2, word="c", tag="Y").rstrip("\n")
    assert read(text) == [(["a b", "c"], ["X", "Y"], 2)]


def test_tokens_of_several_words_and_nodes(read: Read) -> None:
    """What a sentence says of its tokens does not last."""
    ids = ["0.1", "1-1", "1", "1.1", "1.2", "2-3", "2", "2.1", "3", "4-10"]
    text = rows(*ids, *range(4, 11))
    assert [len(one.words) for one in read(f"{text}\n{text}\n{rows(1)}")] == [10, 10, 1]


def test_other_columns(read: Read) -> None:
    text = "1\ta\tb\tDET\tDT\tCase=Nom|Number=Sing\t0\troot\t_\t_\n2\tc\td\tNOUN\tNN\tNumber=Plur\t1\tobj\t_\t_\n"
    expected = {
        "upos": ["DET", "NOUN"],
        "lemma": ["b", "d"],
        "deprel": ["root", "obj"],
        "feats:Case": ["Nom", "_"],
        "feats:Number": ["Sing", "Plur"],
    }
    assert {tag: read(text, tag)[0].tags for tag in expected} == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\nplain text\n", "2: expected 10 columns .* got 1"),
        (rows(1) + "2\tb\tY\n", "2: expected 10 columns .* got 3"),
        (rows(1, 3), "2: expected ID 2, got '3'"),
        (rows(1, "#"), "2: expected ID 2, got '#'"),
        (rows(1, tag="_"), "1: .*got 'w' and '_'"),
        (rows(1, word=""), "1: expected a word and its xpos, got"),
        (rows(1, word=" "), "1: expected a word and its xpos, got"),
        (rows(1, tag=""), "1: expected a word and its xpos, got"),
        ("# c\n\n", " no sentence found in CoNLL-U"),
    ],
)
def test_invalid_files(text: str, problem: str, read: Read) -> None:
    with pytest.raises(InputError, match=f"x:{problem}"):
        read(text)


@pytest.mark.parametrize("index", ["2.", "-2", "02", "²", "٢", "1-1.2"])
def test_invalid_ids(index: str, read: Read) -> None:
    with pytest.raises(InputError, match=f":2: expected ID 2, got '{index}'"):
        read(rows(1, index))


def test_the_word_and_the_lemma_of_an_underscore(read: Read) -> None:
    assert read(rows(1, word="_")) == [(["_"], ["X"], 1)]
    row = "{}\t{}\t{}\tSYM\tSYM\t_\t_\tdep\t_\t_\n"
    (sentence,) = read(row.format(1, "_", "_") + row.format(2, "a", "a"), "lemma")
    assert (sentence.words, sentence.tags) == (["_", "a"], ["_", "a"])
    with pytest.raises(InputError, match=":2: .*its lemma, got 'a' and '_'"):
        read(row.format(1, "_", "_") + row.format(2, "a", "_"), "lemma")


@pytest.mark.parametrize("tag", ["", "feats", "UPOS", "head"])
def test_other_tags(tag: str, read: Read) -> None:
    expected = "one of lemma, upos, xpos, deprel, feats:NAME"
    with pytest.raises(InputError, match=f"tag: expected {expected}, got '{tag}'"):
        read("", tag)


def test_comments_and_blank_lines(read: Read) -> None:
    text = f"\n \t\n# c\n\n{rows(1)}# within\n \n\t\n\n#\tx\n{rows(1)}"
    assert [one.line for one in read(text)] == [5, 11]


def test_values_of_features(read: Read) -> None:
    row = "{}\tw\t_\t_\t_\t{}\t_\t_\t_\t_\n"
    text = row.format(1, "_") + row.format(2, "Number=Plur|Case=Acc")
    (found,) = read(text, "feats:Case")
    assert found.tags == ["_", "Acc"]
    with pytest.raises(InputError, match=":3: expected a word and its feats:Case, got"):
        read(text + row.format(3, "Case="), "feats:Case")
    with pytest.raises(InputError, match="no word has the feature of .* feats:Csae"):
        read(text, "feats:Csae")
