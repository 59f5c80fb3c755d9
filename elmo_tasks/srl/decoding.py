"""Scores of each word's tags -> the best legal BIO sequence (paper, appendix A.5)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from elmo_tasks.data.spans import split_tag


class BioViterbi:
    """
    Finds the sequence with the greatest sum of scores among those in which each I-X follows a B-X or I-X; C-X and R-X
    are types of their own. Since all other tags may follow any, a step takes time in proportion to the number of tags.

    # Parameters

    tags : `Sequence[str]`
        K tags in the order of their ids.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        ids = {tag: place for place, tag in enumerate(tags)}
        parts = [split_tag(tag) for tag in tags]
        self._own = torch.arange(len(tags))  # [K]
        self._inside = torch.tensor([letter == "I" for letter, _ in parts])  # [K]
        begin = [ids.get(f"B-{label}", place) for place, (_, label) in enumerate(parts)]
        self._begin = torch.tensor(begin)  # [K], the B-X of each I-X

    def __call__(self, scores: Tensor, mask: Tensor) -> list[list[int]]:
        """
        # Parameters

        scores : `Tensor`, shape [B, T, K]
        mask : `Tensor`, bool, shape [B, T]
            True for words, which fill each row from the left.

        # Returns

        `list[list[int]]`
            The ids of the best tags, as many as the row has words.
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
        """For each tag the greatest score of a sequence that it may follow, and the last tag of that: both [B, K]."""
        greatest, where = best.max(1, keepdim=True)  # [B, 1]
        begun = best[:, self._begin]  # [B, K]
        inner = torch.where(begun > best, self._begin, self._own)
        return (
            torch.where(self._inside, torch.maximum(begun, best), greatest),
            torch.where(self._inside, inner, where),
        )
