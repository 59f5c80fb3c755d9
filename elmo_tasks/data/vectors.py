"""Word ids -> pretrained word vectors, from a text file in the format of GloVe or word2vec."""

import logging
import warnings
from collections.abc import Collection
from typing import Literal

import numpy as np
import torch
from allennlp.data import Vocabulary
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor, nn

from elmo_tasks.data.vector_files import read_vectors
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

FIXED = "@@FIXED_VECTORS@@"
"""The vocabulary entry that separates words whose vectors may be trained from words with fixed vectors."""


@TokenEmbedder.register("elmo_tasks_word_vectors")
class WordVectors(TokenEmbedder):
    """
    A vector for each word of the vocabulary, which AllenNLP builds from the training and validation data: the file's
    vector of the word, else that of the lower-cased word. `unknown` gives the vectors of other words.

    # Parameters

    embedding_dim : `int`
        Dimension of the vectors (D).
    vocab : `Vocabulary`
        Passed by AllenNLP. The entry `FIXED` is added.
    pretrained_file : `str`, optional
        Plain or gzip, with or without word2vec's header. AllenNLP ignores this key when it loads an archive, which
        contains the vectors. Without a file the vectors are random.
    trainable : `bool`
        Whether the vectors of words in the data are trained.
    keep_all_pretrained : `bool`
        Also adds the file's other words to the vocabulary, with fixed vectors, so that the model knows them in other
        text. The archive grows by 4 D bytes for each.
    unknown : `str`
        Where words that the file does not have start: `mean` of the vectors found, `zero`, or `random`, normally
        distributed with mean and standard deviation of the vectors found, as AllenNLP's embeddings do.
    normalize : `bool`
        Scales the file's vectors to length 1.
    vocab_namespace : `str`
        The vocabulary namespace of the words.
    every_word : `bool`, optional
        Deprecated name of `keep_all_pretrained`.

    # Raises

    `InputError`
        Whatever `read_vectors` raises; if random vectors do not fit in memory; if `FIXED` is a word of the data.
    """

    def __init__(
        self,
        *,
        embedding_dim: int,
        vocab: Vocabulary,
        pretrained_file: str | None = None,
        trainable: bool = True,
        keep_all_pretrained: bool = False,
        unknown: Literal["mean", "zero", "random"] = "mean",
        normalize: bool = False,
        vocab_namespace: str = "tokens",
        every_word: bool | None = None,
    ) -> None:
        super().__init__()
        if every_word is not None:
            warnings.warn("every_word is deprecated, use keep_all_pretrained", DeprecationWarning, stacklevel=2)
            keep_all_pretrained = every_word
        self._namespace, self._file, self._normalize = vocab_namespace, pretrained_file, normalize
        _check_vocabulary(vocab, vocab_namespace)
        _, _, *in_data = vocab.get_token_to_index_vocabulary(vocab_namespace)  # after padding and unknown words
        vectors = _read(pretrained_file, in_data, embedding_dim, keep_all=keep_all_pretrained, normalize=normalize)
        first_fixed = vocab.add_token_to_namespace(FIXED, vocab_namespace)
        if keep_all_pretrained:
            for word in vectors:
                vocab.add_token_to_namespace(word, vocab_namespace)
        words = list(vocab.get_token_to_index_vocabulary(vocab_namespace))
        table = _table(words, vectors, embedding_dim, unknown)  # [words, D]
        self.weight = nn.Parameter(table[:first_fixed], requires_grad=trainable)
        self.register_buffer("fixed", table[first_fixed:].clone())
        self.fixed: Tensor

    def get_output_dim(self) -> int:
        """Dimension of the vectors: D."""
        return self.weight.shape[1]

    def forward(self, tokens: Tensor) -> Tensor:
        """
        # Parameters

        tokens : `Tensor`, shape [B, T]
            Word ids, 0 for padding.

        # Returns

        `Tensor`, shape [B, T, D]; zero for padding.
        """
        trained = len(self.weight)
        beyond = (tokens >= trained)[..., None]  # [B, T, 1]
        fixed = nn.functional.embedding((tokens - trained).clamp(min=0), self.fixed)  # [B, T, D]
        vectors = nn.functional.embedding(tokens.clamp(max=trained - 1), self.weight, padding_idx=0)  # [B, T, D]
        return torch.where(beyond, fixed, vectors)

    def extend_vocab(
        self,
        extended_vocab: Vocabulary,
        vocab_namespace: str | None = None,
        extension_pretrained_file: str | None = None,
        model_path: str | None = None,
    ) -> None:
        """
        AllenNLP's hook for `--extend-vocab`: adds fixed vectors of words that were appended to the vocabulary, from the
        file if it has them, else the vector of unknown words.
        """
        words = list(extended_vocab.get_token_to_index_vocabulary(self._namespace))
        new = words[len(self.weight) + len(self.fixed) :]
        file, width = extension_pretrained_file or self._file, self.get_output_dim()
        vectors = _read(file, new, width, keep_all=False, normalize=self._normalize) if new else {}
        unknown = self.weight.detach()[1]  # [D]
        rows = [_look_up(vectors, word) for word in new]
        extra = [unknown if row is None else torch.from_numpy(row).to(unknown) for row in rows]
        self.fixed = torch.cat([self.fixed, *(row[None] for row in extra)])


def _check_vocabulary(vocab: Vocabulary, namespace: str) -> None:
    """A vocabulary that was saved contains the entry; one that was counted from data must not."""
    counted = vocab._retained_counter or {}
    if FIXED in counted.get(namespace, {}):
        raise InputError(f"the data contain the reserved word {FIXED!r}")


def _read(
    file: str | None, words: Collection[str], width: int, *, keep_all: bool, normalize: bool
) -> dict[str, np.ndarray]:
    """The file's vectors of these words, or of all, perhaps scaled to length 1; the first if a word occurs twice."""
    if file is None:
        return {}
    requested = None if keep_all else {*words, *(word.lower() for word in words)}
    vectors: dict[str, np.ndarray] = {}
    for word, vector in read_vectors(file, width=width, words=requested):
        vectors.setdefault(word, vector / (np.linalg.norm(vector) or 1.0) if normalize else vector)
    exact = sum(word in vectors for word in words)
    lowered = sum(word not in vectors and word.lower() in vectors for word in words)
    logger.info("%s: vectors of %d of %d words, %d more in lower case", file, exact, len(words), lowered)
    if not vectors:
        logger.warning("%s has no vector for any word of the data", file)
    return vectors


def _random(rows: int, width: int) -> Tensor:
    try:
        return torch.randn(rows, width) / width**0.5
    except (RuntimeError, TypeError) as error:  # too little memory; a width of more than 64 bits
        size = f"{rows:,} vectors of {width:,} numbers, {4 * rows * width / 1e9:,.1f} GB"
        raise InputError(f"embedding_dim: expected vectors that fit in memory, got {size}") from error


def _look_up(vectors: dict[str, np.ndarray], word: str) -> np.ndarray | None:
    found = vectors.get(word)
    return vectors.get(word.lower()) if found is None else found


def _table(words: list[str], vectors: dict[str, np.ndarray], width: int, unknown: str) -> Tensor:
    """The vectors of all words by id, shape [words, D]."""
    if vectors:
        rows = [_look_up(vectors, word) for word in words]
        found = np.stack([row for row in rows if row is not None] or list(vectors.values()))  # [found, D]
        mean = found.mean(axis=0)
        if unknown == "random":
            start = torch.normal(float(found.mean()), float(found.std()), (len(words), width)).numpy()
        else:
            start = np.broadcast_to(mean if unknown == "mean" else np.zeros_like(mean), (len(words), width))
        filled = [new if row is None else row for row, new in zip(rows, start, strict=True)]
        table = torch.from_numpy(np.stack(filled).astype(np.float32))
    else:
        table = _random(len(words), width)
    table[0] = 0.0
    return table
