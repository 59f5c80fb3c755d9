"""Raganato et al.'s XML and keys and WordNet's index.sense: what is read, and one clear error for what is not."""

import gzip
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.probing.senses import Target, key_file_of, read_first_senses, read_keys, read_senses
from tests.probing.samples import INDEX_SENSE, SEMCOR

HEAD = '<?xml version="1.0" encoding="UTF-8" ?>\n<corpus lang="en">\n<text id="d">\n<sentence id="s">\n'
TAIL = "</sentence>\n</text>\n</corpus>\n"
INSTANCE = '<instance id="t0" lemma="play" pos="NOUN">play</instance>\n'


def test_the_fixture() -> None:
    sentences = list(read_senses(SEMCOR))
    assert len(sentences) == 24
    schools = sentences[21]
    assert " ".join(schools.words) == "The primary school stood near the town hall & the market ."
    first, second = schools.targets
    assert first[:5] == ("d000.s021.t000", "primary_school", "NOUN", 1, 3)
    assert (second.start, second.end, schools.words[6:8]) == (6, 8, ["town", "hall"])
    assert SEMCOR.read_text().splitlines()[first.line - 1].endswith(">primary school</instance>")


def test_text_is_cut_at_white_space_wherever_the_parser_hands_it_over(tmp_path: Path) -> None:
    text = '<instance id="t" lemma="Mock_Trial" pos="VERB"> mock\n\ttrial&#233;s </instance><wf>A&amp;B</wf>\n'
    (sentence,) = read_senses(written(tmp_path, HEAD + text + TAIL))
    assert sentence.words == ["mock", "trialés", "A&B"]
    assert sentence.targets == [Target("t", "mock_trial", "VERB", 0, 2, 6)]


def test_gzip(tmp_path: Path) -> None:
    file = tmp_path / "x.data.xml"
    file.write_bytes(gzip.compress((HEAD + INSTANCE + TAIL).encode()))
    assert [sentence.words for sentence in read_senses(file)] == [["play"]]


def written(folder: Path, text: str) -> Path:
    file = folder / "x.data.xml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (HEAD + INSTANCE + "</text>", 6, "no well-formed XML: mismatched tag"),
        (HEAD + "<wf>a</wf>\n", 6, "no well-formed XML: no element found"),
        (HEAD + "<wf>a & b</wf>\n" + TAIL, 5, "no well-formed XML"),
        ("not XML at all\n", 1, "no well-formed XML: syntax error"),
        ('<!DOCTYPE corpus [<!ENTITY a "aa">]>\n<corpus/>', 1, "no document type definition was wanted"),
        (HEAD + "<word>a</word>\n" + TAIL, 5, "wf, instance was wanted in sentence, found <word>"),
        (HEAD + "<wf>a<wf>b</wf></wf>\n" + TAIL, 5, "no element was wanted in wf, found <wf>"),
        ("<text></text>", 1, "corpus was wanted in the file, found <text>"),
        (HEAD + "loose\n<wf>a</wf>" + TAIL, 6, "around every word, found 'loose' outside"),
        (HEAD + "<wf> </wf>\n" + TAIL, 5, "an element that holds a word was wanted"),
        (HEAD + TAIL, 5, "a sentence of one word or more was wanted"),
        (HEAD + '<instance lemma="a" pos="NOUN">a</instance>\n' + TAIL, 5, "found none of: id"),
        (HEAD + INSTANCE.replace("NOUN", "NN") + TAIL, 5, "must be NOUN, VERB, ADJ or ADV, found 'NN'"),
        (HEAD + INSTANCE + INSTANCE + TAIL, 6, "an id of its own, 't0' came before"),
    ],
)
def test_bad_xml_is_one_error_with_its_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InputError, match="wanted|well-formed|must") as got:
        list(read_senses(file))
    assert str(got.value).startswith(f"{file}:{line}: ") and problem in str(got.value)


def test_xml_without_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentence found"):
        list(read_senses(written(tmp_path, "<corpus></corpus>")))


def test_keys(tmp_path: Path) -> None:
    file = tmp_path / "x.gold.key.txt"
    file.write_text("a play%1:10:01::\r\n\nb fit%5:00:00:healthy:00 fit%3:00:00:: fit%3:00:00::\n")
    assert read_keys(file) == {
        "a": ("play%1:10:01::",),
        "b": ("fit%5:00:00:healthy:00", "fit%3:00:00::"),
    }


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a play%1:10:01::\nb\n", 2, "were wanted, found none"),
        ("a play%1:10:01:: stage\n", 1, "were wanted, found 'stage'"),
        ("a play%6:10:01::\n", 1, "were wanted, found 'play%6:10:01::'"),
        ("a play%1:10:01::\na play%1:10:01::\n", 2, "the keys of 'a' came before"),
    ],
)
def test_bad_keys_are_one_error_with_their_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    file = tmp_path / "x.gold.key.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=problem) as got:
        read_keys(file)
    assert str(got.value).startswith(f"{file}:{line}: ")


def test_first_senses(tmp_path: Path) -> None:
    first = read_first_senses(INDEX_SENSE)
    assert first["fall", "VERB"] == "fall%2:38:03::"  # of rank 1, though not the first line
    assert first["play", "NOUN"] == "play%1:10:01::" and first["play", "VERB"] == "play%2:33:00::"
    file = tmp_path / "index.sense"
    file.write_text("fit%5:00:00:able:00 00000001 1 0\nfit%3:00:00:: 00000002 1 9\n")
    assert read_first_senses(file) == {("fit", "ADJ"): "fit%5:00:00:able:00"}  # one rank, two senses: the first line


@pytest.mark.parametrize("line", ["play 1 1 0", "play%1:10:01:: 1 0", "play%1:10:01:: 1 one 0"])
def test_a_bad_index_sense_is_one_error_with_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "index.sense"
    file.write_text(f"a%1:10:01:: 1 1 0\n{line}\n")
    with pytest.raises(InputError, match=r"index\.sense:2: sense key, offset, rank and count were wanted"):
        read_first_senses(file)


def test_the_key_file_lies_beside(tmp_path: Path) -> None:
    assert key_file_of(tmp_path / "a.b.data.xml") == tmp_path / "a.b.gold.key.txt"
    with pytest.raises(InputError, match=r"a file named NAME\.data\.xml was wanted"):
        key_file_of("semcor.xml")
