"""Context-free vectors of the types met last, so that running text costs the token encoder its new types alone."""

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from elmo_tasks.elmo.characters import tokens_to_ids

CAPACITY = 32768
"""Types that are kept at most: 64 MB at the paper's size."""

Slots = dict[bytes, int]
"""Where in the table a type's vector stands, by the bytes of its character ids."""


def is_alike_in_any_company(encode: Callable[[Tensor], Tensor]) -> bool:
    """
    Whether a type's vector is the same, bit for bit, whichever types are encoded with it: tried on some. Kept vectors
    then change nothing, and a run that goes on after a kill has those of the run left alone. Products of odd widths
    are computed in another order for another number of rows.
    """
    ids = torch.from_numpy(tokens_to_ids([chr(97 + number % 26) * (1 + number % 17) for number in range(64)]))
    together = encode(ids.long())
    return all(torch.equal(encode(ids[-count:].long()), together[-count:]) for count in (2, 3, 4, 5, 12, 19, 31))


class TypeCache:
    """
    Vectors of types by their character ids, for frozen weights on a CPU.

    Two generations of half the capacity each: new types, and those of the old generation that are met again, go to
    the young one; when it is full it becomes the old one, and what was old until then is forgotten. Memory is taken
    as types come. Several threads may use it; a copy begins empty.

    # Parameters

    capacity : `int`
        At least 2.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._lock = threading.Lock()
        self._young: Slots = {}
        self._old: Slots = {}
        self._table: Tensor | None = None
        self._half, self._next = 0, 0  # which half of the table is the young one's, and its first free place

    def __reduce__(self) -> tuple[Any, ...]:
        return TypeCache, (self.capacity,)

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def vectors(self, character_ids: Tensor, encode: Callable[[Tensor], Tensor]) -> Tensor:
        """
        What `encode` gives, called with those types alone that are not kept.

        # Parameters

        character_ids : `Tensor`, shape [N, 50]
            Distinct types.
        encode : `Callable[[Tensor], Tensor]`
            Ids [n, 50] -> vectors [n, P]; the same function at each call.

        # Returns

        `Tensor`, shape [N, P].
        """
        keys = [row.tobytes() for row in character_ids.to(torch.int16).numpy()]
        with self._lock:
            slots = [self._young.get(key, self._old.get(key, -1)) for key in keys]
            late = [place for place, key in enumerate(keys) if key not in self._young]  # old or missing
            kept = self._table[slots] if self._table is not None else None  # [N, P], a copy; missing ones are wrong
        missing = [place for place, slot in enumerate(slots) if slot < 0]
        vectors = self._complete(kept, missing, character_ids, encode)
        with self._lock:
            self._keep({keys[place]: place for place in late}, vectors)
        return vectors

    @staticmethod
    def _complete(
        kept: Tensor | None, missing: list[int], character_ids: Tensor, encode: Callable[[Tensor], Tensor]
    ) -> Tensor:
        if kept is not None and not missing:
            return kept
        # A type alone would be a product of a matrix and a vector, which rounds in another way than all others.
        at_least_two = missing if len(missing) > 1 else missing * 2
        fresh = encode(character_ids[at_least_two])[: len(missing)]  # [n, P]
        vectors = fresh.new_empty(len(character_ids), fresh.shape[1]) if kept is None else kept
        vectors[missing] = fresh
        return vectors

    def _keep(self, places: dict[bytes, int], vectors: Tensor) -> None:
        """Adds the types whose rows of `vectors` [N, P] are given to the young generation."""
        half = self.capacity // 2
        if not places or len(places) > half:
            return
        if self._table is None:
            with torch.inference_mode(False):  # what is made in that mode could not be filled later
                self._table = vectors.new_empty(2 * half, vectors.shape[1])
        if self._next + len(places) > half:
            self._young, self._old = {}, self._young
            self._half, self._next = 1 - self._half, 0
        first = self._half * half + self._next
        self._table[first : first + len(places)] = vectors[list(places.values())]
        self._young.update(zip(places, range(first, first + len(places)), strict=True))
        self._next += len(places)
