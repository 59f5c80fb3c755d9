"""The tokenizer that needs no download."""

import pickle

import pytest
from allennlp.common import Params
from allennlp.data.tokenizers import Tokenizer

from elmo_tasks.data.tokenizer import BlankSpacyTokenizer

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
