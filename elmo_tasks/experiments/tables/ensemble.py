"""
Scores an ensemble: several archives of one model, combined by the mean of their
probabilities or of their votes (paper, A.3 and A.4). The first model decodes the
combined scores and computes the metric.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from allennlp.models import Model
from torch import Tensor, nn

from elmo_tasks.elmo.devices import best_device, cuda_number
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables.table import VOTES
from elmo_tasks.tasks.task_model import SoftmaxModel
from elmo_tasks.training.archives.loading import data_loader, load_archive

Scores = dict[str, Tensor]
_TIE = 1e-4
"""The weight of probabilities beside votes: they break ties."""


def score_ensemble(archives: Sequence[Path], data: str, *, how: str) -> dict[str, Any]:
    """
    The metrics of the model on the data, for archives of runs that differ only in their
    seed; `how` is `probabilities` or `votes`.
    """
    device = cuda_number(best_device())
    members = [load_archive(path, cuda_device=device) for path in archives]
    models: list[SoftmaxModel] = [member.model.eval() for member in members]
    with torch.no_grad():
        for batch in data_loader(members[0], data):
            scores = [model.score(**batch) for model in models]
            models[0].answer(combine(scores, how=how), **batch)
    metrics = models[0].get_metrics(reset=True)
    mixes = models[0].input_encoder.describe()  # of one member, not of the ensemble
    return {name: value for name, value in metrics.items() if name not in mixes}


def combine(scores: Sequence[Scores], *, how: str) -> Scores:
    """
    The members' scores as one: the first's, with the log of their mean probabilities,
    or mean votes, as logits.
    """
    combined = dict(scores[0])
    for name in combined:
        if name.endswith("logits"):
            logits = [member[name] for member in scores]
            combined[name] = _mean(logits, how=how).log()
    return combined


def _mean(logits: list[Tensor], *, how: str) -> Tensor:
    """
    The mean over M members of the probabilities or votes of their logits [.., K], each;
    [.., K].
    """
    members = [member.float().softmax(-1) for member in logits]
    probabilities = torch.stack(members)  # [M, .., K]
    if how == VOTES:
        best = probabilities.argmax(-1)  # [M, ..]
        votes = nn.functional.one_hot(best, probabilities.shape[-1])  # [M, .., K]
        probabilities = (votes + _TIE * probabilities) / (1 + _TIE)
    return probabilities.mean(0).clamp(min=torch.finfo(torch.float32).tiny)  # [.., K]


def require_probabilities(kind: str) -> None:
    """Raises `InputError` if the models of a registered type have no probabilities."""
    if kind in Model.list_available():
        model, _ = Model.resolve_class_name(kind)
        if issubclass(model, SoftmaxModel):
            return
    raise InputError(f"an ensemble needs probabilities; {kind} has none")
