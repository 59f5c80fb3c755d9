"""
Several archives of one model -> its own metric on their common answer (paper, A.3 and A.4).

All members score a batch; where the first one makes its scores, the mean of all members' probabilities (or of their
votes) takes their place, and what comes behind, decoding and metric, is the first one's own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from allennlp.data import DataLoader
from allennlp.models import Model
from allennlp.models.archival import Archive, load_archive
from torch import Tensor, nn

from elmo_tasks.ablation.schema import VOTES
from elmo_tasks.errors import InputError

SCORERS = {
    "elmo_tasks_snli": "classifier",
    "elmo_tasks_sst": "head",
    "elmo_tasks_srl": "score_tags",
    "elmo_tasks_squad": "pointers",
}
"""
Of each model the part whose outputs are scores that a softmax over their last axis makes probabilities. The scores of
NER's conditional random field and of coreference's pairs are none.
"""

Scores = tuple[Tensor, ...]
_TIE = 1e-4
"""How much probabilities count beside votes: they settle ties."""


def score_ensemble(archives: Sequence[Path], data: str, *, how: str) -> dict[str, Any]:
    """
    # Parameters

    archives : `Sequence[Path]`
        Of runs that differ in their seed alone.
    data : `str`
        What is scored.
    how : `str`
        `probabilities` or `votes`.

    # Returns

    `dict[str, Any]`
        The metrics of the models.

    # Raises

    `InputError`
        If the model has no probabilities, or the members are of different kinds or vocabularies.
    """
    members = [load_archive(path, cuda_device=0 if torch.cuda.is_available() else -1) for path in archives]
    kind = _common_kind(members)
    first, *others = [member.model.eval() for member in members]
    for batch in _batches(members[0], data):
        with torch.no_grad():
            given = [_scores(model, kind, batch) for model in others]
            with _heard(first, kind, partial(_joined, given=given, how=how)):
                first(**batch)
    return first.get_metrics(reset=True)


def _joined(own: Scores, *, given: list[Scores], how: str) -> Scores:
    return common([own, *given], how=how)


def common(given: Sequence[Scores], *, how: str) -> Scores:
    """
    The logarithm of the mean of the members' probabilities, or of their votes, for each of their outputs.

    # Parameters

    given : `Sequence[Scores]`
        Of each member as many tensors as its scorer gives, of shape [.., K].
    """
    return tuple(_mean([member[place] for member in given], how=how).log() for place in range(len(given[0])))


def _mean(scores: list[Tensor], *, how: str) -> Tensor:
    probabilities = torch.stack([member.float().softmax(-1) for member in scores])  # [M, .., K]
    if how == VOTES:
        votes = nn.functional.one_hot(probabilities.argmax(-1), probabilities.shape[-1])  # [M, .., K]
        probabilities = (votes + _TIE * probabilities) / (1 + _TIE)
    return probabilities.mean(0).clamp(min=torch.finfo(torch.float32).tiny)  # [.., K]


@contextmanager
def _heard(model: Model, kind: str, change: Callable[[Scores], Scores | None]) -> Iterator[None]:
    """What the model's scorer gives passes through `change`, which gives None to leave it as it is."""

    def hear(_: nn.Module, inputs: tuple[Any, ...], output: Tensor | Scores) -> Tensor | Scores | None:
        if isinstance(output, Tensor):
            changed = change((output,))
            return None if changed is None else changed[0]
        # Scores of places: those that are padding have no share.
        return change(tuple(scores.masked_fill(~inputs[1], -torch.inf) for scores in output))

    handle = model.get_submodule(SCORERS[kind]).register_forward_hook(hear)
    try:
        yield
    finally:
        handle.remove()


def _scores(model: Model, kind: str, batch: dict[str, Any]) -> Scores:
    kept: list[Scores] = []
    with _heard(model, kind, kept.append):
        model(**batch)
    return kept[-1]


def _batches(archive: Archive, data: str) -> Iterator[dict[str, Any]]:
    params = archive.config.get("validation_data_loader") or archive.config["data_loader"]
    loader = DataLoader.from_params(params.duplicate(), reader=archive.validation_dataset_reader, data_path=data)
    loader.index_with(archive.model.vocab)
    loader.set_target_device(next(archive.model.parameters()).device)
    yield from loader


def _common_kind(members: Sequence[Archive]) -> str:
    kinds = {member.config["model"]["type"] for member in members}
    vocabularies = [member.model.vocab.get_token_to_index_vocabulary("labels") for member in members]
    if len(kinds) > 1 or any(vocabulary != vocabularies[0] for vocabulary in vocabularies):
        raise InputError(f"members of an ensemble must be alike, found {', '.join(sorted(kinds))}")
    kind = str(kinds.pop())
    require_probabilities(kind)
    return kind


def require_probabilities(kind: str) -> None:
    """Raises `InputError` for a type of model whose scores are no probabilities."""
    if kind not in SCORERS:
        raise InputError(f"an ensemble needs probabilities; {kind} has none, {', '.join(SCORERS)} have")
