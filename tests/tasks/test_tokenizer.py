"""Tokenizers and word ids."""

import time
from typing import Any

import pytest
import spacy
from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary

from elmo_tasks.formats.text.raw_text import (
    blank_pipeline,
    sentence_pipeline,
)
from elmo_tasks.nn.word_indexer import WordIndexer
from elmo_tasks.tasks.coref.reader import CorefReader
from elmo_tasks.tasks.tagging.reader import NerReader
from elmo_tasks.tasks.tokenizer import BlankSpacyTokenizer, offsets_of

TEXT = "  Mr. O'Neil didn't pay $5.50 in Zürich;\n\n he said: “No!” 😀 "


@pytest.mark.parametrize("reader", [NerReader(), CorefReader()])
def test_long_words_do_not_widen_the_batch(reader: NerReader | CorefReader) -> None:
    text: list[Any] = ["x" * 10_000, "y"]
    if isinstance(reader, CorefReader):
        text = [text]
    instance = reader.text_to_instance(text)
    reader.apply_token_indexers(instance)
    instance.index_fields(Vocabulary())
    lengths = []
    for of_field in instance.get_padding_lengths().values():
        lengths += of_field.values()
    assert max(lengths) == 256


def test_word_ids() -> None:
    vocabulary = Vocabulary(counter={"tokens": {"May": 5, "may": 4, "harbour": 3}})
    words = ("May", "may", "Harbour", "MAY", "Harrow", "@@PADDING@@")
    tokens = list(map(Token, words))
    indexed = WordIndexer().tokens_to_indices(tokens, vocabulary)
    assert indexed == {"tokens": [2, 3, 4, 3, 1, 1]}
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
    tokenizer = BlankSpacyTokenizer()
    text = f" Mr. O'Neil {run}, {run[:300]}.  It ends."
    began = time.process_time()
    tokens = tokenizer.tokenize(text)
    assert time.process_time() - began < 1
    words = [token.ensure_text() for token in tokens]
    for word, (start, end) in zip(words, offsets_of(tokens), strict=True):
        assert text[start:end] == word
    assert "".join(words) == "".join(text.split())
    assert words[:2] == ["Mr.", "O'Neil"]
    assert words[-3:] == ["It", "ends", "."]
    assert sentence_pipeline("en")(text).text == text


@pytest.mark.parametrize("language", ["en", "la"])
def test_ordinary_text_is_split_by_the_rules_of_spacy(language: str) -> None:
    text = f"{TEXT}http://example.org/{'a/b_c?d=%20' * 80} {'-' * 100} {'x' * 1000}"
    expected = spacy.blank(language).tokenizer(text)
    found = blank_pipeline(language)(text)
    for token, other in zip(found, expected, strict=True):
        assert token.text == other.text
        assert token.whitespace_ == other.whitespace_
