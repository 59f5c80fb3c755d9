"""Viterbi decoding of BIO tags (paper, appendix A.5)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from elmo_tasks.formats.spans import split_tag


class BioViterbi:
    """
    Finds the legal BIO sequence with the greatest sum of scores: each I-X follows B-X or I-X. As all other tags may
    follow any tag, a step takes linear time in the number of tags. (AllenNLP's `viterbi_decode`, in quadratic time,
    rounds the scores when it is given constraints on the first tag.) `tags` are K tags in the order of their ids.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        ids = {tag: place for place, tag in enumerate(tags)}
        parts = [split_tag(tag) for tag in tags]
        self._own = torch.arange(len(tags))  # [K]
        self._inside = torch.tensor([letter == "I" for letter, _ in parts])  # [K]
        self._begin = torch.tensor([ids.get(f"B-{label}", place) for place, (_, label) in enumerate(parts)])  # [K]

    def __call__(self, scores: Tensor, mask: Tensor) -> list[list[int]]:
        """
        The ids of each row's best tags, from scores [B, T, K] and the mask [B, T] of words, which are at the start of a
        row.
        """
        scores, mask = scores.detach().cpu(), mask.cpu()
        best = scores[:, 0].masked_fill(self._inside, -torch.inf)  # [B, K]
        origins: list[Tensor] = []
        for step in range(1, scores.shape[1]):
            moved, origin = self._move(best)
            running = mask[:, step, None]  # [B, 1]
            best = torch.where(running, moved + scores[:, step], best)
            origins.append(torch.where(running, origin, self._own))
        paths = [best.argmax(1)]  # [B]
        for origin in reversed(origins):
            paths.append(origin.gather(1, paths[-1][:, None])[:, 0])
        whole = torch.stack(paths[::-1], 1).tolist()  # [B, T]
        return [path[:length] for path, length in zip(whole, mask.sum(1).tolist(), strict=True)]

    def _move(self, best: Tensor) -> tuple[Tensor, Tensor]:
        """For each tag the best score of a sequence that it may follow, and the last tag of that: both [B, K]."""
        greatest, where = best.max(1, keepdim=True)  # [B, 1]
        begun = best[:, self._begin]  # [B, K]
        inner = torch.where(begun > best, self._begin, self._own)
        return (
            torch.where(self._inside, torch.maximum(begun, best), greatest),
            torch.where(self._inside, inner, where),
        )
