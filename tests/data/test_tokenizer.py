"""The tokenizer that needs no download."""

import pickle

import pytest
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.data.tokenizers import Tokenizer

from elmo_tasks.coref.reader import CorefReader
from elmo_tasks.data.tokenizer import BlankSpacyTokenizer, FirstCharacters
from elmo_tasks.ner.reader import NerReader

TEXT = "  Mr. O'Neil didn't pay $5.50 in Zürich;\n\n he said: “No!” 😀 "


def test_english_rules() -> None:
    tokens = BlankSpacyTokenizer().tokenize("Mr. Smith didn't pay $5.50, he said.")
    texts = ["Mr.", "Smith", "did", "n't", "pay", "$", "5.50", ",", "he", "said", "."]
    assert [token.text for token in tokens] == texts


def test_offsets_give_the_text_back() -> None:
    tokens = BlankSpacyTokenizer().tokenize(TEXT)
    assert len(tokens) == 18
    assert [TEXT[t.idx : t.idx_end] for t in tokens] == [t.text for t in tokens]
    assert "".join(t.text for t in tokens) == "".join(TEXT.split())


@pytest.mark.parametrize("text", ["", "   ", "\n\t\u00a0"])
def test_white_space_has_no_tokens(text: str) -> None:
    assert BlankSpacyTokenizer().tokenize(text) == []


def test_no_limit_on_the_length() -> None:
    assert len(BlankSpacyTokenizer().tokenize(("word" * 50 + " ") * 5_000)) == 5_000


def test_registered_and_restored_from_its_params() -> None:
    tokenizer = Tokenizer.from_params(Params({"type": "elmo_tasks_spacy"}))
    assert isinstance(tokenizer, BlankSpacyTokenizer)
    assert isinstance(Tokenizer.from_params(tokenizer.to_params()), BlankSpacyTokenizer)


def test_survives_pickling() -> None:
    tokenizer = pickle.loads(pickle.dumps(BlankSpacyTokenizer()))
    assert tokenizer.tokenize(TEXT) == BlankSpacyTokenizer().tokenize(TEXT)


def test_first_characters() -> None:
    assert [token.text for token in FirstCharacters(limit=3).tokenize("abcde")] == ["a", "b", "c"]
    assert [token.text for token in FirstCharacters(limit=3, marked=True).tokenize("abcde")] == [
        *("<w>", "a", "b", "c", "</w>")
    ]


@pytest.mark.parametrize("reader", [NerReader(), CorefReader()])
def test_a_giant_word_does_not_widen_the_batch(reader: NerReader | CorefReader) -> None:
    giant = "x" * 10_000
    instance = reader.text_to_instance([giant, "y"] if isinstance(reader, NerReader) else [[giant, "y"]])
    reader.apply_token_indexers(instance)
    instance.index_fields(Vocabulary())
    shapes = [list(lengths.values()) for lengths in instance.get_padding_lengths().values()]
    assert 50 <= max(length for of_one in shapes for length in of_one) <= 52
