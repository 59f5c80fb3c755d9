"""How `Elmo` splits texts into words, and what it warns of."""

import json
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy

from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import Tokenizer
from tests.elmo.samples import write_bilm
from tests.test_flow import elmo_tasks

RAW = ["She can't hear the play.", "It ended."]
SPLIT = [["She", "ca", "n't", "hear", "the", "play", "."], ["It", "ended", "."]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return write_bilm(tmp_path_factory.mktemp("bilm"))


@pytest.fixture(scope="module")
def open_elmo(files: tuple[str, str]) -> Callable[..., Elmo]:
    return partial(Elmo.from_files, *files)


@pytest.fixture
def elmo(open_elmo: Callable[..., Elmo]) -> Elmo:
    return open_elmo()


def by_letters(text: str) -> list[str]:
    return [letter for letter in text if letter.isalnum()]


TOKENIZERS: dict[str, tuple[Tokenizer, list[list[str]], str]] = {
    "whitespace": ("whitespace", [text.split() for text in RAW], "white space"),
    "basic": ("basic", SPLIT, "basic 1"),
    "spaCy's rules": ("spacy:en", SPLIT, f"spaCy {spacy.__version__}, blank en"),
    "a spaCy language": (
        spacy.blank("en"),
        SPLIT,
        f"spaCy {spacy.__version__}, en_pipeline",
    ),
    "a function": (by_letters, [by_letters(text) for text in RAW], "by_letters"),
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_each_method_takes_each_tokenizer(
    open_elmo: Callable[..., Elmo], tmp_path: Path, name: str
) -> None:
    tokenizer, words, recorded = TOKENIZERS[name]
    plain = open_elmo()
    for elmo, given in (
        (plain, {"tokenizer": tokenizer}),
        (open_elmo(tokenizer=tokenizer), {}),
    ):
        assert elmo.words(RAW, **given) == words
        vectors = plain.embed(words, layers="top")
        found = elmo.embed(RAW, layers="top", **given)
        assert all(map(np.array_equal, found, vectors))
        column = elmo.embed_batch({"text": RAW}, column="text", layers="top", **given)
        assert all(map(np.array_equal, column["elmo"], vectors))
        pooled = elmo.encode(RAW, layers="top", **given)
        assert np.array_equal(pooled, plain.encode(words, layers="top"))
        known = list(dict.fromkeys(words[1]))
        means = elmo.mean_vectors(RAW, known, layers="top", **given)
        assert np.array_equal(means, plain.mean_vectors(words, known, layers="top"))
        out = tmp_path / f"{len(given)}.hdf5"
        elmo.write(enumerate(RAW, 1), out, settings={"input": "text"}, **given)
        with ElmoVectors(out) as written:
            assert [written.tokens(0), written.tokens(1)] == words
            assert written.info["tokenizer"] == recorded


def test_a_pickle_has_the_tokenizer(open_elmo: Callable[..., Elmo]) -> None:
    for tokenizer in ("basic", by_letters):
        elmo = open_elmo(tokenizer=tokenizer)
        assert pickle.loads(pickle.dumps(elmo)).words(RAW) == elmo.words(RAW)


@pytest.mark.parametrize("tokenizer", ["basic", "whitespace"])
def test_raw_text_at_white_space_is_reported_once(
    elmo: Elmo, tokenizer: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    for _ in range(2):
        elmo.embed([*RAW, ["It", "ended", "."]], tokenizer=tokenizer)
        list(elmo.iter_embed(RAW, tokenizer=tokenizer))
        elmo.encode(RAW, tokenizer=tokenizer)
    settings = {"input": "text"}
    lines = enumerate(RAW, 1)
    elmo.write(lines, tmp_path / "x", settings=settings, tokenizer=tokenizer)
    assert len(caplog.messages) == (tokenizer == "whitespace")
    assert all("seems not to be tokenised" in message for message in caplog.messages)


def test_texts_are_split_by_the_basic_rule_and_lists_are_words(elmo: Elmo) -> None:
    assert elmo.words([RAW[0], ["can't", "."]]) == [SPLIT[0], ["can't", "."]]
    assert elmo.words([" ".join(words) for words in SPLIT]) == SPLIT


def test_the_command_splits_as_python_does(
    files: tuple[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bilm = ("--model", "+".join(files))
    (tmp_path / "text").write_text("\n".join(RAW) + "\n")
    as_json = [json.dumps({"tokens": text}) for text in RAW]
    (tmp_path / "x.jsonl").write_text("\n".join(as_json) + "\n")
    at_blanks = [text.split() for text in RAW]
    for name, options, words in (
        ("text", ("--tokenizer", "basic"), SPLIT),
        ("text", ("--tokenizer", "spacy:en"), SPLIT),
        ("x.jsonl", ("--column", "tokens", "--tokenizer", "basic"), SPLIT),
        ("x.jsonl", ("--column", "tokens", "--tokenizer", "spacy:en"), SPLIT),
        ("text", (), at_blanks),
        ("x.jsonl", ("--column", "tokens"), at_blanks),
    ):
        elmo_tasks(
            "elmo", tmp_path / name, tmp_path / "out", *bilm, *options, "--force"
        )
        with ElmoVectors(tmp_path / "out") as vectors:
            assert [vectors.tokens(0), vectors.tokens(1)] == words
    raw = [record for record in caplog.records if "not to be" in record.getMessage()]
    assert len(raw) == 2
    assert all("the tokenizer basic" in record.getMessage() for record in raw)
    with pytest.raises(InputError, match="tokenizer: expected whitespace, basic"):
        elmo_tasks("elmo", tmp_path / "text", tmp_path / "x", *bilm, "--tokenizer", "x")
