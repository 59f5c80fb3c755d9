"""
How often a training step copies tensors to the device, and how often the CPU waits for
it there: both leave a GPU idle, and a new one is a fault unless there is a reason.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.nn.util import move_to_device

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.model import BiLMModel
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from tests import models
from tests.elmo.samples import SENTENCES, options
from tests.elmo.sources.transformer_samples import write_transformer
from tests.gpu.pretend import Work, work_of
from tests.models import make_model, tensors
from tests.pretraining import toy
from tests.pretraining.test_language_model import random_batch
from tests.tiny import bilm_files

ELMO = (1, 6)
"""
Of a pass of the biLM: it sends the indices that pack the sentences; it waits for a
check of the padding, their lengths, their words, the distinct ones, a check of these,
and the words' lengths.
"""

OWN = {
    "squad": (0, 0),
    # the lengths of both sentences in two encoders; two checks of AllenNLP's accuracy
    "snli": (0, 6),
    "srl": (0, 1),  # the lengths
    "coref": (
        2,
        3,
    ),  # places of words, and spans with labels; lengths, words and scores
    "ner": (0, 2),  # the lengths; which sentences have known tags
    "tagger": (0, 2),
    "sst": (0, 4),
}
"""
What a step of each model sends, and how often it waits; of coreference for each
document.
"""

PASSES = {"squad": 2, "snli": 2, "coref": 3}
"""Passes of the biLM in a step of other models than those with one."""

CACHED = {
    "biLM": (ELMO, ELMO),
    "carry": (ELMO, ELMO),
    # Layers are sent; it waits for a check, and for the ids.
    "cached": ((3, 9), (1, 2)),
    "transformer": ((6, 2), (6, 2)),
}
"""The first and the second pass of each source over the same words."""


def counts(work: Work) -> tuple[int, int]:
    return work.sent.total(), work.waits.total()


def step_of(model: torch.nn.Module, run: Callable[[], Any]) -> Callable[[], None]:
    """A training step, the optimizer included, which has its state already."""
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])

    def step() -> None:
        model.train()
        optimizer.zero_grad()
        run()["loss"].backward()
        optimizer.step()

    step()
    return step


@pytest.mark.parametrize("elmo", [None, {"at": "both"}], ids=["without", "both"])
@pytest.mark.parametrize("task", OWN)
def test_a_step_of_a_model(
    task: str, elmo: dict[str, Any] | None, tmp_path: Path, pretended: torch.device
) -> None:
    given = models.corpus(task)[:4]
    model = make_model(task, given, tmp_path, elmo).to(pretended)
    batch = move_to_device(tensors(model.vocab, given), pretended)
    work = work_of(step_of(model, partial(model, **batch)))
    sent, waits = OWN[task]
    if task == "coref":  # a document at a time
        sent *= len(given)
        waits *= len(given)
    if elmo is not None:
        passes = PASSES.get(task, 1)
        sent += passes * ELMO[0]
        waits += passes * ELMO[1]
    assert counts(work) == (sent, waits), (work.sent, work.waits)


@pytest.mark.parametrize("source", CACHED)
def test_the_layers_of_a_batch(
    source: str, tmp_path: Path, pretended: torch.device
) -> None:
    keys: dict[str, Any] = {
        "biLM": {},
        "carry": {"state": "carry"},
        "cached": {"cache_dir": tmp_path / "cache"},
        "transformer": {"source": "transformer"},
    }[source]
    if source == "transformer":
        keys["model"] = write_transformer(tmp_path / "bert")
    elmo = ElmoTokenEmbedder.open(**bilm_files(tmp_path), **keys).to(pretended).train()
    ids = batch_to_ids(SENTENCES).to(pretended)
    for expected in CACHED[source]:
        work = work_of(partial(elmo, ids))
        assert counts(work) == expected, (work.sent, work.waits)


@pytest.mark.parametrize(("negatives", "sent"), [(None, 0), (5, 2)])
def test_a_step_of_the_language_model(
    negatives: int | None, sent: int, pretended: torch.device
) -> None:
    """
    It sends the negatives of both directions, and waits for the words' lengths and the
    losses.
    """
    vocabulary = LmVocabulary.of(WordVocabulary(["<S>", "</S>", "<UNK>", *toy.WORDS]))
    model = BiLMModel(vocabulary, toy.OPTIONS, negatives=negatives).to(pretended)
    batch = random_batch()
    batch.targets.clamp_(max=len(vocabulary.to_words()) - 1)
    batch = batch.to(pretended)
    work = work_of(step_of(model, partial(model, batch)))
    assert counts(work) == (sent, 2), (work.sent, work.waits)


def operators_per_step(few: Callable[[], Any], many: Callable[[], Any]) -> float:
    """
    Of the device, by which a text that is a token longer takes more: of texts of 5 and
    15 tokens.
    """
    difference = work_of(many).operators.total() - work_of(few).operators.total()
    return difference / 10


def test_operators_of_a_time_step(pretended: torch.device) -> None:
    """Views included; of both directions of two layers."""
    bilm = BiLM(options()).requires_grad_(False).to(pretended)
    few_ids = batch_to_ids([["a"] * 5] * 3).to(pretended)
    many_ids = batch_to_ids([["a"] * 15] * 3).to(pretended)
    few_tokens = random_batch(5).to(pretended)
    many_tokens = random_batch(15).to(pretended)
    vocabulary = LmVocabulary.of(WordVocabulary(["<S>", "</S>", "<UNK>", *toy.WORDS]))
    model = BiLMModel(vocabulary, toy.OPTIONS).to(pretended)
    passes = partial(bilm, few_ids), partial(bilm, many_ids)
    assert operators_per_step(*passes) <= 108
    few_step = step_of(model, partial(model, few_tokens))
    many_step = step_of(model, partial(model, many_tokens))
    assert operators_per_step(few_step, many_step) <= 320
