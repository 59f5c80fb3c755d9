"""
Surprisal of words: equal to a loop over the softmax in NumPy, one token at a time, and
in sum to the perplexity; the states that a sentence starts from; streams.
"""

import logging
import math
import random
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo_tasks.bilm.characters import token_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import TrainedModel, load_trained
from elmo_tasks.pretraining.scores.perplexity import PerplexityReport, perplexity
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal
from tests.pretraining import toy

ODD = ["", "<UNK> unheard", "the " * 700, "</S> the <S>", "the cook bakes the bread ."]
"""
Nothing; words outside the vocabulary; a sentence of more than a window, also of one with
carried states; the names of the boundaries as words.
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    """Random weights, wide enough for a sentence's states to matter."""
    run = tmp_path_factory.mktemp("surprisal") / "run"
    toy.fake_run(run)
    trained = load_trained(run)
    generator = torch.Generator().manual_seed(4)
    for parameter in trained.model.parameters():
        parameter.data = 0.4 * torch.randn(parameter.shape, generator=generator)
    return trained


@pytest.fixture(scope="module")
def surprisal(trained: TrainedModel) -> WordSurprisal:
    return WordSurprisal(trained.model, trained.vocabulary)


@pytest.fixture(scope="module")
def text() -> list[str]:
    """45 sentences of all lengths, in no order."""
    lines = toy.sentences(40, seed=9)
    lines += ODD
    random.Random(1).shuffle(lines)
    shortened = []
    for number, line in enumerate(lines):
        if line in ODD:
            shortened.append(line)
        else:
            shortened.append(" ".join(line.split()[number % 5 :]))
    return shortened


@torch.no_grad()
def one_by_one(
    trained: TrainedModel, lines: list[str], *, state: str
) -> list[tuple[list[float], list[float]]]:
    """
    The bits of each sentence's targets, forward and backward in the order of the text:
    every token by itself through the LSTMs, and a softmax in NumPy.
    """
    bilm = trained.model.bilm
    weight = trained.model.softmax.weight.double().numpy()
    bias = trained.model.softmax.bias.double().numpy()
    vectors = {}
    for token in {"<S>", "</S>", *" ".join(lines).split()}:
        ids = torch.from_numpy(token_to_ids(token).astype(np.int64))
        vectors[token] = bilm.token_encoder(ids[None])
    by_direction = []
    for stack, step in ((bilm.forward_stack, 1), (bilm.backward_stack, -1)):
        states = stack.initial_states(1)
        found = []
        for line in lines:
            if state == "reset":
                states = stack.initial_states(1)
            bits: list[float] = []
            tokens = ["<S>", *line.split(), "</S>"][::step]
            for token, target in pairwise(tokens if line.split() else []):
                outputs, states = stack(vectors[token], [1], states)
                logits = weight @ outputs[-1][0].double().numpy() + bias
                largest = logits.max()
                total = 0.0
                for logit in logits:
                    total += math.exp(logit - largest)
                own = logits[trained.vocabulary.id(target)] - largest
                bits.append((math.log(total) - own) / math.log(2))
            found.append(bits[::step])
        by_direction.append(found)
    return list(zip(*by_direction, strict=True))


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_a_loop_over_the_softmax(
    trained: TrainedModel, surprisal: WordSurprisal, text: list[str], state: str
) -> None:
    expected = one_by_one(trained, text, state=state)
    found = surprisal.score(text, state=state, tokenizer="whitespace")
    for line, (forward, backward), one in zip(text, expected, found, strict=True):
        assert one.words == line.split()
        if not one.words:
            assert (one.begin, one.end, one.forward_sum) == (0.0, 0.0, 0.0)
            continue
        np.testing.assert_allclose([*one.forward, one.end], forward, rtol=2e-5)
        np.testing.assert_allclose([one.begin, *one.backward], backward, rtol=2e-5)
        assert one.forward_sum == pytest.approx(sum(forward), rel=1e-5)
        assert one.backward_sum == pytest.approx(sum(backward), rel=1e-5)


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_nothing_but_empty_sentences(surprisal: WordSurprisal, state: str) -> None:
    found = list(surprisal.score(["", " "], state=state))
    assert [(one.words, one.forward_sum, one.backward_sum) for one in found] == [
        ([], 0.0, 0.0),
        ([], 0.0, 0.0),
    ]


@pytest.mark.parametrize(
    ("state", "options"), [("reset", {"state": "reset"}), ("carry", {"rows": 1})]
)
def test_the_sums_are_those_of_perplexity(
    surprisal: WordSurprisal,
    text: list[str],
    state: str,
    options: dict[str, object],
    tmp_path: Path,
) -> None:
    file = tmp_path / "text.txt"
    file.write_text("\n".join(text) + "\n")
    ((_, report),) = perplexity(
        surprisal.model, surprisal.vocabulary, [file], **options
    )
    found = surprisal.score(text, state=state, tokenizer="whitespace")
    targets = sum([len(one.words) + 1 for one in found if one.words])
    unknown = sum([sum(one.is_unknown) for one in found])
    forward = math.fsum([one.forward_sum for one in found]) * math.log(2)  # nats
    backward = math.fsum([one.backward_sum for one in found]) * math.log(2)
    expected = PerplexityReport(
        forward=math.exp(forward / targets),
        backward=math.exp(backward / targets),
        geometric=math.exp((forward + backward) / 2 / targets),
        arithmetic=(math.exp(forward / targets) + math.exp(backward / targets)) / 2,
        unknown_share=unknown / targets,
        tokens=2 * targets,
    )
    assert unknown > 0
    assert report == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_a_stream(surprisal: WordSurprisal, state: str) -> None:
    taken: list[int] = []

    def endless() -> Iterator[str]:
        number = 0
        while True:
            taken.append(number)
            yield f"the cook {'bakes ' * (number % 7)}."
            number += 1

    found = list(islice(surprisal.iter_score(endless(), state=state), 3))
    assert 3 <= len(taken) <= 1024
    assert [len(one.words) for one in found] == [3, 4, 5]


def test_tokenizers_and_warnings(
    trained: TrainedModel, caplog: pytest.LogCaptureFixture
) -> None:
    raw = ["the cook bakes the bread.", "the sailor ties the rope.", "the sea."]
    surprisal = WordSurprisal(trained.model, trained.vocabulary)
    with caplog.at_level(logging.WARNING):
        assert surprisal.score(raw)[0].words[-2:] == ["bread", "."]
        assert not caplog.messages
        found = surprisal.score(raw, tokenizer="whitespace")
        assert found[0].words[-1] == "bread."
        assert "the tokenizer basic" in caplog.messages[-1]


def test_what_is_no_input(surprisal: WordSurprisal) -> None:
    for call in (surprisal.score, surprisal.iter_score):
        with pytest.raises(InputError, match="expected a list of sentences"):
            call("the cook")
        with pytest.raises(InputError, match="state: expected .*, got 'zero'"):
            call(["the cook"], state="zero")
    with pytest.raises(InputError, match="sentence 2: expected a string or a list"):
        list(surprisal.iter_score(["the cook", 3]))  # type: ignore[list-item]


def test_weights_that_overflow(tmp_path: Path) -> None:
    toy.fake_run(tmp_path / "run")
    trained = load_trained(tmp_path / "run")
    trained.model.softmax.bias.data[0] = math.inf
    surprisal = WordSurprisal(trained.model, trained.vocabulary)
    with pytest.raises(InputError, match="finite surprisals, got .* for 'the cook'"):
        surprisal.score(["the cook"])


def test_rows(surprisal: WordSurprisal) -> None:
    """A row for each word of each sentence, with the numbers of `score`."""
    lines = ["the cook bakes", "", "unheard bread"]
    rows = surprisal.rows(lines, state="carry")
    first, _, last = surprisal.score(lines, state="carry")
    keys = ("sentence", "position", "word", "oov")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        (0, 1, "the", False),
        (0, 2, "cook", False),
        (0, 3, "bakes", False),
        (2, 1, "unheard", True),
        (2, 2, "bread", False),
    ]
    assert [row["forward"] for row in rows] == [*first.forward, *last.forward]
    assert [row["backward"] for row in rows] == [*first.backward, *last.backward]
