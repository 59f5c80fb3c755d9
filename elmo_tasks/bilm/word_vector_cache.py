"""
A least-recently-used cache of context-free word vectors, so that running text costs
only its new words.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

CAPACITY = 32768  # words, 64 MB at the paper's size


class WordVectorCache:
    """
    Least-recently-used cache: a word's character ids -> its vector. Safe to use from
    several threads. A copy or a pickle is empty.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._vectors: OrderedDict[bytes, Tensor] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def __reduce__(self) -> Any:
        return WordVectorCache, (self.capacity,)

    def vectors(
        self, character_ids: Tensor, encode: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """
        `encode(character_ids)`, [N, P], for ids [N, C] on the CPU, where `encode` is
        called only with the words that are not in the cache. There is at least one
        word. A word's vector must not depend on the other words of a call.
        """
        keys = [row.tobytes() for row in character_ids.numpy()]
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
        missing = [index for index, key in enumerate(keys) if key not in found]
        if missing:
            encoded = encode(character_ids[missing])  # [n, P]
            for index, vector in zip(missing, encoded, strict=True):
                found[keys[index]] = vector.clone()
        with self._lock:
            self._vectors.update(found)
            for key in keys:
                self._vectors.move_to_end(key)
            while len(self._vectors) > self.capacity:
                self._vectors.popitem(last=False)
        return torch.stack([found[key] for key in keys])
