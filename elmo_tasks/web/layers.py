"""A frozen biLM and an index of a small text: nearest occurrences and maps of a word in each layer (Table 4)."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, Field, TypeAdapter

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.corpus_text import read_corpus
from elmo_tasks.experiments.probes.index import CorpusIndex, index_layers
from elmo_tasks.experiments.probes.layers import FrozenEncoder, encode_blocks
from elmo_tasks.experiments.probes.neighbors import Occurrence, Query, nearest_occurrences
from elmo_tasks.experiments.probes.senses import DATA_SUFFIX, key_file_of, read_keys, read_senses
from elmo_tasks.formats.json_values import Text, validate
from elmo_tasks.resources import fixtures_root
from elmo_tasks.web.worker import Outcome

MAX_OCCURRENCES = 300


class _Neighbors(BaseModel, extra="forbid"):
    tokens: list[Text] = Field(min_length=1)
    word: int = Field(ge=0)
    top: int = Field(5, ge=1, le=100)
    same: bool = False


class _Map(BaseModel, extra="forbid"):
    word: Text


_REQUESTS: dict[str, TypeAdapter] = {"neighbors": TypeAdapter(_Neighbors), "map": TypeAdapter(_Map)}


def default_corpora() -> list[Path]:
    """The embedded texts with word senses, and a part of the synthetic corpus."""
    root = fixtures_root()
    return [*sorted((root / "wsd").rglob(f"*{DATA_SUFFIX}")), root / "miniworld" / "lm" / "heldout.miniworld.txt"]


class LayerSearch:
    """
    All layers of the tokens of some corpora, in memory: `2 (L+1) D` bytes for each token. Raises what `read_corpus`,
    `read_senses` and `read_keys` do.
    """

    def __init__(self, encoder: FrozenEncoder, corpora: Sequence[Path]) -> None:
        texts = [list(read_corpus(corpus)) for corpus in corpora]
        self._encoder, self._senses = encoder, dict(_senses(corpora, map(len, texts)))
        self._indices = index_layers(chain.from_iterable(texts), encoder)

    def describe(self) -> dict[str, Any]:
        """The number of `layers`, and of `sentences` and `words` of the index."""
        text = self._indices[0].text
        return {"layers": len(self._indices), "sentences": len(text), "words": len(text.types)}

    def prepare(self, action: str, data: Any) -> tuple[_Neighbors | _Map, int]:
        """A request of an action, and its words. Raises `InputError` if it is invalid."""
        request = validate(_REQUESTS[action], data, "the request")
        return request, len(getattr(request, "tokens", "."))

    def answers(self, inputs: Sequence[_Neighbors | _Map]) -> list[Outcome]:
        """JSON for one request."""
        try:
            (request,) = inputs
            found = self._neighbors(request) if isinstance(request, _Neighbors) else self._map(request.word)
            return [json.dumps(found).encode()]
        except Exception as error:
            return [error]

    def _neighbors(self, request: _Neighbors) -> dict[str, Any]:
        tokens, place = request.tokens, request.word
        if place >= len(tokens):
            raise InputError(f"'word': expected 0 to {len(tokens) - 1}, got {place}")
        (block,) = encode_blocks(self._encoder.encode, [tokens])
        layers = []
        for index in self._indices:
            vector = block.layers[index.layer, place].half().float().numpy()  # rounded as in the index
            query = Query(Occurrence(tokens, place), vector)
            found = nearest_occurrences(index, tokens[place], query, top=request.top, any_word=not request.same)
            layers.append([{"words": one.words, "place": one.place, "cosine": one.cosine} for one in found])
        return {"layers": layers}

    def _map(self, word: str) -> dict[str, Any]:
        text = self._indices[0].text
        tokens = text.occurrences(word)
        if not len(tokens):
            raise InputError(f"the text of the index does not have the word {word!r}")
        if len(tokens) > MAX_OCCURRENCES:
            tokens = tokens[np.linspace(0, len(tokens) - 1, MAX_OCCURRENCES).astype(int)]
        numbers = map(text.sentence_of, tokens)
        placed = [(number, int(token - text.starts[number])) for token, number in zip(tokens, numbers, strict=True)]
        occurrences = [{"words": text.sentence(n), "place": p, "sense": self._senses.get((n, p))} for n, p in placed]
        return {"occurrences": occurrences, "layers": [principal(index, tokens).tolist() for index in self._indices]}


def principal(index: CorpusIndex, tokens: np.ndarray) -> np.ndarray:
    """
    The first two principal components [n, 2] of the vectors of n tokens. In each the entry of the largest magnitude is
    positive; a component that does not exist is 0.
    """
    vectors = index.vectors[tokens].astype(np.float64)  # [n, D]
    left, scale, _ = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    points = np.zeros((len(tokens), 2))
    known = min(2, len(scale))
    points[:, :known] = left[:, :known] * scale[:known]
    largest = points[np.abs(points).argmax(0), (0, 1)]
    return points * np.where(largest < 0, -1, 1)


def _senses(corpora: Sequence[Path], lengths: Iterable[int]) -> Iterator[tuple[tuple[int, int], str]]:
    """The sentence and the place of each annotated word, and its sense, for corpora with these numbers of sentences."""
    sentences = 0
    for corpus, length in zip(corpora, lengths, strict=True):
        annotated = corpus.name.endswith(DATA_SUFFIX) and key_file_of(corpus).exists()
        keys = read_keys(key_file_of(corpus)) if annotated else {}
        for number, sentence in enumerate(read_senses(corpus) if annotated else (), start=sentences):
            for target in sentence.targets:
                yield from (((number, place), keys[target.id][0]) for place in range(target.start, target.end))
        sentences += length
