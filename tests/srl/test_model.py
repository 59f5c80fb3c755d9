"""
The SRL tagger. Properties of all task models are in tests/tasks/test_task_models.py.
"""

import math
from itertools import product

import pytest
import torch

from elmo_tasks.tasks.srl.model import BioViterbi
from tests.models import Build, tensors
from tests.srl.samples import corpus, instance


@pytest.mark.parametrize("sum_token_losses", [True, False])
def test_loss_by_hand(build: Build, sum_token_losses: bool) -> None:
    model = build(given=corpus(), sum_token_losses=sum_token_losses)
    golds = ["B-ARG1 B-V", "B-ARG0 B-V B-ARG1 I-ARG1"]
    sentences = [
        instance("Rain fell", 1, golds[0]),
        instance("Mira sold two jars", 1, golds[1]),
    ]
    output = model(**tensors(model.vocab, sentences))
    expected = 0.0
    for row, gold in enumerate(golds):
        logs = output["logits"][row].log_softmax(1)
        losses = []
        for place, tag in enumerate(gold.split()):
            losses.append(-logs[place, model.tags.index(tag)].item())
        loss = sum(losses)
        if not sum_token_losses:
            loss /= len(losses)
        expected += loss / 2
    assert output["loss"].item() == pytest.approx(expected, rel=1e-5)


def test_only_the_indicator_tells_which_word_is_the_predicate(build: Build) -> None:
    model = build(given=corpus())
    sentences = [instance("Mira sold two jars", place) for place in (1, 1, 3)]
    logits = model(**tensors(model.vocab, sentences))["logits"]
    assert torch.allclose(logits[0], logits[1], atol=1e-6)
    assert (logits[0] - logits[2]).abs().min(dim=1).values.max() > 1e-4


TAGS = ["B-A0", "O", "I-A0", "I-C-A0", "B-C-A0", "I-A9"]


def is_legal(tags: list[str]) -> bool:
    pairs = zip(["O", *tags], tags, strict=False)
    return all(
        tag[0] != "I" or (before != "O" and before[2:] == tag[2:])
        for before, tag in pairs
    )


@pytest.mark.parametrize("scale", [0.3, 30.0])
def test_decoding_equals_enumeration(scale: float) -> None:
    torch.manual_seed(4)
    scores = torch.randn(30, 5, len(TAGS)) * scale
    lengths = (torch.arange(30) % 5 + 1).tolist()
    mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    decoded = BioViterbi(TAGS)(scores.masked_fill(~mask[:, :, None], torch.nan), mask)
    constrained = 0
    for row, length in enumerate(lengths):
        of_sentence = scores[row, :length]
        assert decoded[row] == best_path(of_sentence.tolist())
        constrained += decoded[row] != of_sentence.argmax(1).tolist()
    assert constrained


def best_path(scores: list[list[float]]) -> list[int]:
    """The legal path of the greatest sum, of all paths."""
    best: list[int] = []
    greatest = -math.inf
    for path in product(range(len(TAGS)), repeat=len(scores)):
        if not is_legal([TAGS[tag] for tag in path]):
            continue
        total = 0.0
        for of_word, tag in zip(scores, path, strict=True):
            total += of_word[tag]
        if total > greatest:
            greatest = total
            best = list(path)
    return best


def test_unknown_gold_tags_are_misses_and_not_in_the_loss(build: Build) -> None:
    model = build(given=corpus())
    output = model(**tensors(model.vocab, [instance("Rain fell", 1, "B-ARG9 B-V")]))
    assert model.f1.report()["labels"]["ARG9"]["gold"] == 1
    kept = -output["logits"][0, 1].log_softmax(0)[model.tags.index("B-V")].item()
    assert output["loss"].item() == pytest.approx(kept, rel=1e-5)
    model.vocab.add_token_to_namespace("B-ARG9", "labels")
    output = model(**tensors(model.vocab, [instance("Rain fell", 1, "B-ARG9 B-V")]))
    assert output["loss"].item() == pytest.approx(kept, rel=1e-5)
    unknown = instance("Rain fell", 1, "B-X B-Y")
    assert model(**tensors(model.vocab, [unknown]))["loss"].isfinite()


def test_skipped_sentences_are_said_at_the_end_of_an_evaluation(build: Build) -> None:
    model = build(given=corpus()).train()
    model(**tensors(model.vocab, corpus()))
    assert "sentences_skipped" not in model.get_metrics(reset=True)
    model.eval()
    model(**tensors(model.vocab, corpus()))
    assert "sentences_skipped" not in model.get_metrics()
    assert model.get_metrics(reset=True)["sentences_skipped"] == 0
