"""The n-gram baseline of the embedded biLM's card."""

import runpy

import pytest

from elmo_tasks.pretraining.vocabulary import WordVocabulary
from tests.tiny import ROOT


def test_kneser_ney_perplexity_by_hand() -> None:
    # Bigrams: <S> a twice; a b, b </S>, a a, a </S> once. Different preceding words: a 2, b 1, </S> 2, in total 5.
    # Discounts are 0.5, 1 and 1.5, since no count is 4; half of the probability of each context goes to the unigrams.
    ngram = runpy.run_path(str(ROOT / "benchmarks/ngram.py"))
    vocabulary = WordVocabulary(["<S>", "</S>", "<UNK>", "a", "b"])
    train, text = (ngram["Text"].of(lines, vocabulary) for lines in ([["a", "b"], ["a", "a"]], [["a", "b"]]))
    frequent, rare = (2 - 1) / 5 + 0.5 / 4, (1 - 0.5) / 5 + 0.5 / 4
    a_after_start = (2 - 1) / 2 + 0.5 * frequent
    b_after_a = (1 - 0.5) / 3 + 0.5 * rare
    end_after_b = (1 - 0.5) / 1 + 0.5 * frequent
    probabilities = ngram["kneser_ney"](ngram["train_kneser_ney"](train, order=2, classes=5), text, 5)
    expected = (a_after_start * b_after_a * end_after_b) ** (-1 / 3)
    assert ngram["perplexity"](probabilities, text) == pytest.approx(expected, rel=1e-12)
