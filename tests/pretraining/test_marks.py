"""
Typographic marks that a vocabulary lacks: a text with them has the surprisal of the same
text with plain marks, and its own words.
"""

import logging
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.scores.minimal_pairs import Pair, score_pairs
from elmo_tasks.pretraining.scores.perplexity import perplexity
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal
from elmo_tasks.resources import embedded_bilm

PLAIN = str.maketrans(
    {
        **{"’": "'", "‘": "'", "‚": "'", "′": "'", "“": '"', "”": '"', "„": '"'},
        **{"–": "-", "—": "--", "―": "--", "‑": "-", "−": "-", "…": "..."},
        **{"\u00a0": " ", "\u202f": " ", "\u200b": ""},
    }
)
"""Marks, and what people type in their place."""

TYPED = [
    "They aren’t here.",
    "The dogs’ bowls — all of them — were empty…",
    "“She told me ‘no’,” he said – twice.",
    "„Well,“ he said, “it’s the ’90s…”",
    "‘Tis a well‑known man—but who?",
    "…and then, from 10–12, etc… nothing.",
    "I paid\u00a010 % of it.",
]
TEXTS = st.lists(
    st.sampled_from(["don", "t", "dogs", "said", "etc", "U.S", "10", ".", ",", " "])
    | st.sampled_from(["’", "‘", "“", "”", "„", "–", "—", "…", "‑", "\u00a0"]),
    max_size=14,
).map("".join)
TOKENIZERS = ["whitespace", "basic", "spacy:en"]


@pytest.fixture(scope="module")
def surprisal() -> WordSurprisal:
    return WordSurprisal.from_pretrained(device="cpu")


def as_plain(text: str) -> str:
    """An en dash between blanks is a dash, another one a hyphen."""
    return re.sub(r"(?<!\S)–(?!\S)", "--", text).translate(PLAIN)


def with_marks(folder: Path, marks: str) -> Path:
    """The bundled language model with marks as the last words of its vocabulary."""
    shutil.copytree(embedded_bilm()[0].parent, folder)
    vocabulary = folder / "vocabulary.txt"
    words = vocabulary.read_text("utf-8").splitlines()
    words[-len(marks) :] = marks
    vocabulary.write_text("\n".join(words) + "\n", "utf-8")
    return folder


def require_equal(
    surprisal: WordSurprisal, typed: list[str] | str, tokenizer: str
) -> None:
    if isinstance(typed, str):
        plain: list[str] | str = as_plain(typed)
    else:
        plain = [word.translate(PLAIN) for word in typed]
    one, other = surprisal.score([typed, plain], tokenizer=tokenizer)
    assert one.is_unknown == other.is_unknown
    np.testing.assert_allclose(one.forward, other.forward, rtol=1e-5)
    np.testing.assert_allclose(one.backward, other.backward, rtol=1e-5)
    assert (one.begin, one.end) == pytest.approx((other.begin, other.end))


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("typed", TYPED)
def test_sentences(surprisal: WordSurprisal, typed: str, tokenizer: str) -> None:
    require_equal(surprisal, typed, tokenizer)


@settings(max_examples=25, deadline=None)
@given(TEXTS, st.sampled_from(TOKENIZERS))
def test_any_place(surprisal: WordSurprisal, typed: str, tokenizer: str) -> None:
    require_equal(surprisal, typed, tokenizer)
    require_equal(surprisal, typed.split(), tokenizer)


def test_words_are_those_that_are_read(surprisal: WordSurprisal) -> None:
    words = [
        '"',
        "Do",
        "n't",
        "!",
        '"',
        "he",
        "'d",
        "said",
        "...",
        "on",
        "10-12",
        "May",
    ]
    for typed in ("“Don’t!” he’d said… on 10–12 May", [*words[:2], "n’t", *words[3:]]):
        [one] = surprisal.score([typed], tokenizer="basic")
        assert one.words == words


def test_it_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    surprisal = WordSurprisal.from_pretrained(device="cpu", tokenizer="basic")
    with caplog.at_level(logging.WARNING):
        surprisal.score(['"It\'s a well-known café," she said ...'])
        assert not caplog.messages
        surprisal.score(["They aren’t", "“Yes,” etc…", ["it", "’s"]])
        surprisal.score(["They aren’t"])
    [message] = caplog.messages
    assert "read 5 typographic marks as plain ones" in message
    assert "’ as ' (2)" in message


def test_another_vocabulary(
    tmp_path: Path, surprisal: WordSurprisal, caplog: pytest.LogCaptureFixture
) -> None:
    """A mark that it has is a word as any other; its neighbours are the bundled ones."""
    folder = with_marks(tmp_path / "model", "’“”—…")
    other = WordSurprisal.from_pretrained(folder, device="cpu", tokenizer="basic")
    with caplog.at_level(logging.WARNING):
        [one] = other.score(["“They aren’t here — yet…"])
    assert not caplog.messages
    assert one.words == ["“", "They", "are", "n’t", "here", "—", "yet", "…"]
    assert one.is_unknown == [False, False, False, True] + [False] * 4
    [plain] = surprisal.score(["They know"], tokenizer="basic")
    [again] = other.score(["They know"])
    assert again.forward == pytest.approx(plain.forward)
    [dash] = other.score(["a–b"])
    [hyphen] = other.score(["a-b"])
    assert dash.forward == pytest.approx(hyphen.forward)  # the one that it lacks


def test_perplexity(
    tmp_path: Path, surprisal: WordSurprisal, caplog: pytest.LogCaptureFixture
) -> None:
    typed = "".join([f"{line}\n" for line in ["\u200b", *TYPED, "It \u200b ended ."]])
    (tmp_path / "typed.txt").write_text(typed, "utf-8")
    (tmp_path / "plain.txt").write_text(as_plain(typed), "utf-8")
    for options in ({"state": "reset"}, {"rows": 2}, {"rows": 1, "max_tokens": 9}):
        reports = []
        for name in ("plain.txt", "typed.txt"):
            caplog.clear()
            model, vocabulary = surprisal.model, surprisal.vocabulary
            [(_, report)] = perplexity(model, vocabulary, [tmp_path / name], **options)
            reports.append(report)
        assert reports[1] == pytest.approx(reports[0], rel=1e-6)
        [message] = [one for one in caplog.messages if "typographic" in one]
        marks = [mark for mark in typed if ord(mark) in PLAIN and not mark.isspace()]
        if "max_tokens" not in options:
            assert f"read {len(marks)} typographic marks" in message
    (tmp_path / "typed.txt").write_text("\u200b\n", "utf-8")
    for options in ({"state": "reset"}, {"rows": 2}):
        with pytest.raises(InputError, match=r"typed.txt: no sentence in this file"):
            list(perplexity(model, vocabulary, [tmp_path / "typed.txt"], **options))


def test_pairs(surprisal: WordSurprisal) -> None:
    """Sentences that differ in their marks alone are the same for the model."""
    typed, plain = ["It", "isn’t", "“x”"], ["It", "isn't", '"x"']
    pairs = [Pair(typed, plain), Pair(typed, ["It", "wasn’t", "“x”"])]
    alike, different = score_pairs(surprisal, pairs)
    assert (alike.is_tie, different.is_tie) == (True, False)
    assert alike.pair.good == typed and alike.good.words == plain


def test_vectors(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Those of the plain words, for a biLM with a vocabulary beside it."""
    elmo = Elmo.from_pretrained(device="cpu")
    typed = [line.split() for line in TYPED]
    expected = elmo.embed([[word.translate(PLAIN) for word in line] for line in typed])
    assert not caplog.messages
    for found, array in zip(elmo.embed(typed), expected, strict=True):
        np.testing.assert_allclose(found, array, atol=1e-6)
    elmo.embed(typed)
    [message] = caplog.messages
    assert "typographic marks as plain ones" in message
    assert elmo.words([TYPED[0]], tokenizer="whitespace") == [typed[0]]
    elmo.save_pretrained(tmp_path / "copy")
    [found] = Elmo.from_pretrained(tmp_path / "copy", device="cpu").embed(typed[:1])
    np.testing.assert_allclose(found, expected[0], atol=1e-6)


def test_vectors_of_other_vocabularies(tmp_path: Path) -> None:
    """A biLM that has the mark, or no vocabulary, reads the mark itself."""
    folder = with_marks(tmp_path / "model", "’")
    (tmp_path / "bare").mkdir()
    for name in ("options.json", "weights.hdf5"):
        shutil.copy(folder / name, tmp_path / "bare")
    words = [["aren’t"], ["aren't"]]
    typed, plain = Elmo.from_pretrained(folder, device="cpu").embed(words)
    bare, bare_plain = Elmo.from_pretrained(tmp_path / "bare", device="cpu").embed(
        words
    )
    np.testing.assert_array_equal(typed, bare)
    np.testing.assert_array_equal(plain, bare_plain)
    assert np.abs(typed - plain).max() > 0.1
