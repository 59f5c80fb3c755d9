"""Tokenizers and word ids."""

import time

import pytest
import spacy
from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary

from elmo_tasks.formats.raw_text import (
    blank_pipeline,
    sentence_pipeline,
    split_at_blanks,
)
from elmo_tasks.nn.word_indexer import WordIndexer
from elmo_tasks.tasks.coref.reader import CorefReader
from elmo_tasks.tasks.tagging.reader import NerReader
from elmo_tasks.tasks.tokenizer import BlankSpacyTokenizer, offsets_of

TEXT = "  Mr. O'Neil didn't pay $5.50 in Zürich;\n\n he said: “No!” 😀 "


@pytest.mark.parametrize("reader", [NerReader(), CorefReader()])
def test_long_words_do_not_widen_the_batch(reader: NerReader | CorefReader) -> None:
    words = ["x" * 10_000, "y"]
    instance = reader.text_to_instance(
        words if isinstance(reader, NerReader) else [words]
    )
    reader.apply_token_indexers(instance)
    instance.index_fields(Vocabulary())
    shapes = [
        list(lengths.values()) for lengths in instance.get_padding_lengths().values()
    ]
    assert max(length for of_one in shapes for length in of_one) == 256


def test_word_ids() -> None:
    vocabulary = Vocabulary(counter={"tokens": {"May": 5, "may": 4, "harbour": 3}})
    words = [
        Token(word)
        for word in ("May", "may", "Harbour", "MAY", "Harrow", "@@PADDING@@")
    ]
    assert WordIndexer().tokens_to_indices(words, vocabulary) == {
        "tokens": [2, 3, 4, 3, 1, 1]
    }
    counter: dict[str, dict[str, int]] = {"words": {"May": 1, "may": 0}}
    indexer = TokenIndexer.from_params(
        Params({"type": "elmo_tasks_word_ids", "namespace": "words"})
    )
    indexer.count_vocab_items(Token("May"), counter)
    assert counter == {"words": {"May": 2, "may": 0}}


@pytest.mark.parametrize(
    "run", ["_" * 50_000, "=" * 50_000, "a" * 50_000, "9" * 50_000, "ab'=_(" * 8_000]
)
def test_long_runs_take_little_time_and_keep_offsets(run: str) -> None:
    tokenizer, text = (
        BlankSpacyTokenizer(),
        f" Mr. O'Neil {run}, {run[:300]}.  It ends.",
    )
    began = time.process_time()
    tokens = tokenizer.tokenize(text)
    assert time.process_time() - began < 1
    assert all(
        text[start:end] == token.text
        for token, (start, end) in zip(tokens, offsets_of(tokens), strict=True)
    )
    assert "".join(token.text for token in tokens if token.text) == "".join(
        text.split()
    )
    assert [token.text for token in tokens][:2] == ["Mr.", "O'Neil"]
    assert [token.text for token in tokens][-3:] == ["It", "ends", "."]
    assert sentence_pipeline("en")(text).text == text


@pytest.mark.parametrize("language", ["en", "la"])
def test_ordinary_text_is_split_by_the_rules_of_spacy(language: str) -> None:
    text = f"{TEXT}http://example.org/{'a/b_c?d=%20' * 80} {'-' * 100} {'x' * 1000}"
    expected = spacy.blank(language).tokenizer(text)
    found = blank_pipeline(language)(text)
    assert [(token.text, token.whitespace_) for token in found] == [
        (one.text, one.whitespace_) for one in expected
    ]


@pytest.mark.parametrize(
    ("text", "warns"),
    [
        ("Mr. O'Neil paid, and left.\nHe said: no!\n", True),
        (
            "Mr. O'Neil paid , and left .\nHe said : no !\n" * 99
            + "John Smith Jr.\n" * 3,
            False,
        ),
    ],
)
def test_attached_punctuation_is_reported_once(
    text: str, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    split = split_at_blanks("--language splits it")
    assert [split(line) for line in text.splitlines() * 3] == [
        line.split() for line in text.splitlines() * 3
    ]
    assert [
        record.getMessage().count("--language splits it") for record in caplog.records
    ] == [1] * warns
