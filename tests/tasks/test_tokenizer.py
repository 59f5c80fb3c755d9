"""Tokenizers and word ids."""

from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import Token, TokenIndexer, Vocabulary

from elmo_tasks.nn.indexers import WordIndexer
from elmo_tasks.tasks.coref.reader import CorefReader
from elmo_tasks.tasks.tagging.reader import NerReader

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
    tokens = list(map(Token, ("May", "may", "Harbour", "MAY", "Harrow", "@@PADDING@@")))
    indexed = WordIndexer().tokens_to_indices(tokens, vocabulary)
    assert indexed == {"tokens": [2, 3, 4, 3, 1, 1]}
    counter: dict[str, dict[str, int]] = {"words": {"May": 1, "may": 0}}
    indexer = TokenIndexer.from_params(
        Params({"type": "elmo_tasks_word_ids", "namespace": "words"})
    )
    indexer.count_vocab_items(Token("May"), counter)
    assert counter == {"words": {"May": 2, "may": 0}}
