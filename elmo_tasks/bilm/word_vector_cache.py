"""A least-recently-used cache of context-free word vectors, so that running text costs only its new words."""

import threading
from collections import OrderedDict
from collections.abc import Callable

import torch
from torch import Tensor

CAPACITY = 32768  # words, 64 MB at the paper's size


class WordVectorCache:
    """Least-recently-used cache: a word's character ids -> its vector. Safe to use from several threads."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._vectors: OrderedDict[bytes, Tensor] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def vectors(
        self, character_ids: Tensor, encode: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """
        `encode(character_ids)`, [N, P], where `encode` is called only with the words that are not in the cache. There
        is at least one word, and ids fit 16 bits. A word's vector must not depend on the other words of a call.
        """
        keys = [row.tobytes() for row in character_ids.to(torch.int16).numpy()]
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
        missing = [index for index, key in enumerate(keys) if key not in found]
        if missing:
            encoded = encode(character_ids[missing])  # [n, P]
            found.update(
                (keys[index], vector.clone())
                for index, vector in zip(missing, encoded, strict=True)
            )
        with self._lock:
            self._vectors.update(found)
            for key in keys:
                self._vectors.move_to_end(key)
            while len(self._vectors) > self.capacity:
                self._vectors.popitem(last=False)
        return torch.stack([found[key] for key in keys])
