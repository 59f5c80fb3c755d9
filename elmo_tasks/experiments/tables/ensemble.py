"""
Scores an ensemble: several archives of one model, combined by the mean of their
probabilities (paper, A.3 and A.4). The first model decodes the
combined scores and computes the metric.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from elmo_tasks.elmo.devices import best_device, cuda_number
from elmo_tasks.errors import InputError
from elmo_tasks.tasks.task_model import SoftmaxModel
from elmo_tasks.training.archives.loading import data_loader, load_archive
from elmo_tasks.training.pass_loss import require_finite

Scores = dict[str, Tensor]


def score_ensemble(archives: Sequence[Path], data: str) -> dict[str, Any]:
    """
    The metrics of the model on the data, for archives of runs that differ only in their
    seed. Raises `InputError` if the model has no probabilities, or a score is not finite.
    """
    device = cuda_number(best_device())
    members = [load_archive(path, cuda_device=device) for path in archives]
    models = []
    for member in members:
        model = member.model.eval()
        if not isinstance(model, SoftmaxModel):
            kind = type(model).__name__
            raise InputError(f"an ensemble needs probabilities; {kind} has none")
        models.append(model)
    with torch.no_grad():
        for batch in data_loader(members[0], data):
            scores = [model.score(**batch) for model in models]
            models[0].answer(combine(scores), **batch)
    metrics = models[0].get_metrics(reset=True)
    mixes = models[0].input_encoder.describe()  # of one member, not of the ensemble
    return {name: value for name, value in metrics.items() if name not in mixes}


def combine(scores: Sequence[Scores]) -> Scores:
    """
    The members' scores as one: the first's, with the log of their mean probabilities as
    logits.
    """
    combined = dict(scores[0])
    for name in combined:
        if name.endswith("logits"):
            logits = [member[name] for member in scores]
            require_finite(*logits)
            combined[name] = _mean(logits).log()
    return combined


def _mean(logits: list[Tensor]) -> Tensor:
    """The mean over M members of the probabilities of their logits [.., K]: [.., K]."""
    members = [member.float().softmax(-1) for member in logits]
    probabilities = torch.stack(members)  # [M, .., K]
    return probabilities.mean(0).clamp(min=torch.finfo(torch.float32).tiny)  # [.., K]
