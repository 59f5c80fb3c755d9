"""Word ids -> pretrained word vectors, from a text file in the format of GloVe or word2vec."""

import logging
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Literal, Optional

import numpy as np
import torch
from allennlp.data import Vocabulary
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.formats.vector_files import VectorFile, read_vectors
from elmo_tasks.nn.word_indexer import split_spellings
from elmo_tasks.settings import PathLike, Width, checked

logger = logging.getLogger(__name__)

FIXED = "@@FIXED_VECTORS@@"
"""The vocabulary entry that separates words whose vectors may be trained from words with fixed vectors."""


@TokenEmbedder.register("elmo_tasks_word_vectors")
class WordVectors(TokenEmbedder):
    """
    A vector for each word of the vocabulary, which AllenNLP builds from the training and validation data: the file's
    vector of the word, else that of the lower-cased word. `unknown` gives the vectors of other words.

    # Parameters

    - `embedding_dim`: dimension of the vectors (D).
    - `vocab`: passed by AllenNLP. The entry `FIXED` is added.
    - `pretrained_file`: plain or gzip, with or without word2vec's header. AllenNLP ignores this key when it loads an
      archive, which contains the vectors. Without a file the vectors are random.
    - `lookup_file`: the same file, not gzip, for the model in an archive: other words of a text that is evaluated or
      predicted get their vectors from it, or, after a warning, that of unknown words if the file is no longer there.
    - `trainable`: whether the vectors of words in the data are trained.
    - `keep_all_pretrained`: in place of `lookup_file`: adds the file's other words to the vocabulary, with fixed
      vectors. Each checkpoint grows by 4 D bytes for each.
    - `unknown`: where words that the file does not have start: `mean` of the vectors found, `zero`, or `random`,
      normally distributed with mean and standard deviation of the vectors found, as AllenNLP's embeddings do.
    - `normalize`: scales the file's vectors to length 1.

    Raises `InputError` as `read_vectors` does.
    """

    @checked
    def __init__(
        self,
        *,
        embedding_dim: Width,
        vocab: Vocabulary,
        pretrained_file: Optional[PathLike] = None,
        lookup_file: Optional[PathLike] = None,
        trainable: bool = True,
        keep_all_pretrained: bool = False,
        unknown: Literal["mean", "zero", "random"] = "mean",
        normalize: bool = False,
        vocab_namespace: str = "tokens",
    ) -> None:
        super().__init__()
        self._unknown_id = vocab.get_token_index(vocab._oov_token, vocab_namespace)
        _, _, *in_data = vocab.get_token_to_index_vocabulary(
            vocab_namespace
        )  # after padding and unknown words
        vectors = _read(
            pretrained_file,
            in_data,
            embedding_dim,
            keep_all=keep_all_pretrained,
            normalize=normalize,
        )
        first_fixed = vocab.add_token_to_namespace(FIXED, vocab_namespace)
        if keep_all_pretrained:
            for word in vectors:
                vocab.add_token_to_namespace(word, vocab_namespace)
        words = list(vocab.get_token_to_index_vocabulary(vocab_namespace))
        table = _table(words, vectors, embedding_dim, unknown)  # [words, D]
        self.weight = nn.Parameter(table[:first_fixed], requires_grad=trainable)
        self.register_buffer("fixed", table[first_fixed:].clone())
        self.fixed: Tensor
        self._lookup: _Lookup | None = None
        if lookup_file is not None and pretrained_file is None:
            self._lookup = _Lookup(Path(lookup_file), embedding_dim, normalize)

    def get_output_dim(self) -> int:
        return self.weight.shape[1]

    def forward(self, tokens: Tensor, spelling: Tensor | None = None) -> Tensor:
        """
        Word ids [B, T], 0 for padding, and spellings [B, C], both from `WordIndexer` -> vectors [B, T, D], zero for
        padding. Without spellings all words that are not in the vocabulary are unknown.
        """
        trained = len(self.weight)
        beyond = (tokens >= trained)[..., None]  # [B, T, 1]
        fixed = nn.functional.embedding(
            (tokens - trained).clamp(min=0), self.fixed
        )  # [B, T, D]
        vectors = nn.functional.embedding(
            tokens.clamp(max=trained - 1), self.weight, padding_idx=0
        )  # [B, T, D]
        vectors = torch.where(beyond, fixed, vectors)
        if spelling is not None and self._lookup is not None:
            self._lookup.fill(vectors, tokens == self._unknown_id, spelling)
        return vectors


@TokenEmbedder.register("elmo_tasks_concatenated_vectors")
class ConcatenatedVectors(TokenEmbedder):
    """
    The vectors of several files for each word, one after the other. `parts` are `WordVectors`, each with its own keys.
    Raises `InputError` if `keep_all_pretrained` of a part adds words that a part before it does not have.
    """

    def __init__(self, parts: list[TokenEmbedder]) -> None:
        super().__init__()
        if (
            len(
                {
                    len(part.weight) + len(part.fixed)
                    for part in parts
                    if isinstance(part, WordVectors)
                }
            )
            != 1
        ):
            raise InputError(
                "parts: expected vectors of the same words, got others",
                hint="remove keep_all_pretrained",
            )
        self.parts = nn.ModuleList(parts)
        self._dim = sum(part.get_output_dim() for part in parts)

    def get_output_dim(self) -> int:
        return self._dim

    def forward(self, tokens: Tensor, spelling: Tensor | None = None) -> Tensor:
        return torch.cat([part(tokens, spelling) for part in self.parts], -1)


class _Lookup:
    """The vectors of words that an archive lacks, in the vectors' file; after a warning none if it cannot be read."""

    def __init__(self, file: Path, width: int, normalize: bool) -> None:
        self._file, self._width, self._normalize = file, width, normalize

    @cached_property
    def _vectors(self) -> VectorFile | None:
        try:
            return VectorFile(self._file, width=self._width)
        except InputError as error:
            text = "words of the text are unknown, since the archive keeps only vectors of training and validation "
            text += "words, and their file cannot be read: put it there, or set lookup_file of the vectors with -o: %s"
            logger.warning(text, error)
            return None

    def get(self, word: str) -> np.ndarray | None:
        vector = (
            None
            if self._vectors is None
            else self._vectors.get(word.encode("utf-8", "surrogatepass"))
        )
        return vector if vector is None or not self._normalize else _unit(vector)

    def fill(self, vectors: Tensor, unknown: Tensor, spelling: Tensor) -> None:
        """
        Replaces those vectors [B, T, D] of words with a spelling [B, C] that the file has; that of the lower-cased word
        only where `unknown` [B, T]: otherwise it is in the vocabulary.
        """
        places, found = [], []
        rows = zip(split_spellings(spelling), unknown.tolist(), strict=True)
        for row, (words, is_unknown) in enumerate(rows):
            # After the last word of a sentence there are empty spellings, perhaps more than its padding.
            for token, word in enumerate(words[: len(is_unknown)]):
                if not word:
                    continue
                text = word.decode("utf-8", "surrogatepass")
                vector = _look_up(self, text) if is_unknown[token] else self.get(text)
                if vector is not None:
                    places.append((row, token))
                    found.append(vector)
        if found:
            batch, token_places = torch.tensor(places).to(vectors.device).unbind(1)
            new = torch.from_numpy(np.stack(found)).to(vectors)  # [N, D]
            vectors[batch, token_places] = new


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / (np.linalg.norm(vector) or 1.0)


def _read(
    file: str | Path | None,
    words: Collection[str],
    width: int,
    *,
    keep_all: bool,
    normalize: bool,
) -> dict[str, np.ndarray]:
    """The file's vectors of these words, or of all, perhaps scaled to length 1; the first if a word occurs twice."""
    if file is None:
        return {}
    requested = None if keep_all else {*words, *(word.lower() for word in words)}
    vectors: dict[str, np.ndarray] = {}
    for word, vector in read_vectors(file, width=width, words=requested):
        vectors.setdefault(word, _unit(vector) if normalize else vector)
    exact = sum(word in vectors for word in words)
    lowered = sum(word not in vectors and word.lower() in vectors for word in words)
    logger.info(
        "%s: vectors of %d of %d words, %d more in lower case",
        file,
        exact,
        len(words),
        lowered,
    )
    if exact + lowered < len(words) / 4:
        advice = "does the dataset reader take the right column, and is it the right language?"
        logger.warning(
            "%s has vectors of only %d of %d words: %s",
            file,
            exact + lowered,
            len(words),
            advice,
        )
    return vectors


def _look_up(vectors: dict[str, np.ndarray] | _Lookup, word: str) -> np.ndarray | None:
    found = vectors.get(word)
    return vectors.get(word.lower()) if found is None else found


def _table(
    words: list[str], vectors: dict[str, np.ndarray], width: int, unknown: str
) -> Tensor:
    """The vectors of all words by id, shape [words, D]."""
    if vectors:
        rows = [_look_up(vectors, word) for word in words]
        found = np.stack(
            [row for row in rows if row is not None] or list(vectors.values())
        )  # [found, D]
        mean = found.mean(axis=0)
        if unknown == "random":
            start = torch.normal(
                float(found.mean()), float(found.std()), (len(words), width)
            ).numpy()
        else:
            start = np.broadcast_to(
                mean if unknown == "mean" else np.zeros_like(mean), (len(words), width)
            )
        filled = [
            new if row is None else row for row, new in zip(rows, start, strict=True)
        ]
        table = torch.from_numpy(np.stack(filled).astype(np.float32))
    else:
        table = torch.randn(len(words), width) / width**0.5
    table[0] = 0.0
    return table
