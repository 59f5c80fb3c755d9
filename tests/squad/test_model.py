"""The SQuAD model: padding, loss, outputs, gradients, ELMo, memory."""

import math
from pathlib import Path

import pytest
import torch
from allennlp.data import Instance

from elmo_tasks.tasks.squad.model import span_loss
from elmo_tasks.tasks.squad.official import GoldAnswer
from elmo_tasks.tasks.squad.reader import NO_SPAN, SquadReader
from tests.models import tensors
from tests.squad.samples import build, corpus


def asked(question: str, passage: str, *golds: GoldAnswer) -> Instance:
    reader = SquadReader()
    instance = reader.text_to_instance(question, passage, golds)
    reader.apply_token_indexers(instance)
    return instance


def test_loss_by_hand() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.5], [0.0, 3.0, -1e30], [5.0, 5.0, 5.0]])
    first = math.log(math.e + math.exp(2) + math.exp(0.5)) - 0.5
    second = math.log(1 + math.exp(3)) - 0.0
    gold = torch.tensor([[2], [0], [NO_SPAN]])
    assert span_loss(logits, gold).item() == pytest.approx(
        (first + second) / 2, rel=1e-5
    )
    assert span_loss(logits, torch.full((3, 1), NO_SPAN)).item() == 0.0


def test_questions_without_a_span_are_scored_but_have_no_loss(tmp_path: Path) -> None:
    model, known = build(tmp_path), corpus()[3]
    lost = asked("What left?", "The ferry left.", GoldAnswer("the harbour", 4))
    both = model(**tensors(model.vocab, [lost, known]))
    assert both["loss"].item() == pytest.approx(
        model(**tensors(model.vocab, [known]))["loss"].item(), abs=1e-5
    )
    model.get_metrics(reset=True)
    alone = model.train()(**tensors(model.vocab, [lost]))
    assert alone["loss"].item() == 0.0
    alone["loss"].backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    best = model.eval()(**tensors(model.vocab, [lost]))["spans"][0][0]["text"]
    hit = asked("What left?", "The ferry left.", GoldAnswer(best.upper(), 99))
    assert hit.fields["span_start"].sequence_index == NO_SPAN
    model(**tensors(model.vocab, [hit]))
    assert model.get_metrics(reset=True) == {"em": 0.5, "f1": 0.5}
