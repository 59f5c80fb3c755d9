"""Word ids -> pre-trained word vectors, from a text file as GloVe and word2vec write them."""

import logging
from collections.abc import Collection

import numpy as np
import torch
from allennlp.data import Vocabulary
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor, nn

from elmo_tasks.data.vector_files import read_vectors
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

FIXED = "@@FIXED_VECTORS@@"
"""In the vocabulary, words before this entry have vectors that may be trained, those after it have fixed ones."""


@TokenEmbedder.register("elmo_tasks_word_vectors")
class WordVectors(TokenEmbedder):
    """
    A vector for each word of the vocabulary, which AllenNLP builds from the training and the validation data: the
    file's vector of the word as it is written, else that of the lower-cased word. Words that have neither, and unknown
    ones, start from the mean of the vectors found, so that a word which training never met is no random point.

    # Parameters

    embedding_dim : `int`
        Width of the vectors (D).
    vocab : `Vocabulary`
        Comes from AllenNLP. An entry that marks the end of the trained words is added to it.
    pretrained_file : `str`, optional
        Plain or gzip; a word2vec header line may come first. AllenNLP drops this key when it loads an archive, where
        the vectors are. Without a file the vectors are random.
    trainable : `bool`
        Whether the vectors of the words in the data are trained.
    every_word : `bool`
        Adds the file's other words to the vocabulary, with fixed vectors, so that the model knows them when it meets
        them in other text. They grow the archive by 4 D bytes each.
    vocab_namespace : `str`
        The part of the vocabulary that holds the words.

    # Raises

    `InputError`
        With file and line, if the file is missing, is no text, or has a line that is not a word and D finite numbers;
        if random vectors do not fit in memory; if the data that the vocabulary was counted from have the word that
        marks the end of the trained ones.
    """

    def __init__(
        self,
        *,
        embedding_dim: int,
        vocab: Vocabulary,
        pretrained_file: str | None = None,
        trainable: bool = True,
        every_word: bool = False,
        vocab_namespace: str = "tokens",
    ) -> None:
        super().__init__()
        self._namespace, self._file = vocab_namespace, pretrained_file
        _refuse_fixed(vocab, vocab_namespace)
        _, _, *in_data = vocab.get_token_to_index_vocabulary(vocab_namespace)  # after padding and unknown words
        vectors = _read(pretrained_file, in_data, embedding_dim, every_word=every_word)
        first_fixed = vocab.add_token_to_namespace(FIXED, vocab_namespace)
        if every_word:
            for word in vectors:
                vocab.add_token_to_namespace(word, vocab_namespace)
        words = list(vocab.get_token_to_index_vocabulary(vocab_namespace))
        table = _table(words, vectors, embedding_dim)  # [words, D]
        self.weight = nn.Parameter(table[:first_fixed], requires_grad=trainable)
        self.register_buffer("fixed", table[first_fixed:].clone())
        self.fixed: Tensor

    def get_output_dim(self) -> int:
        """Width of the vectors: D."""
        return self.weight.shape[1]

    def forward(self, tokens: Tensor) -> Tensor:
        """
        # Parameters

        tokens : `Tensor`, shape [B, T]
            Word ids, 0 where there is no token.

        # Returns

        `Tensor`, shape [B, T, D]; zero where there is no token.
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
        AllenNLP's hook for `--extend-vocab`: gives words that were appended to the vocabulary fixed vectors, from a
        file if there is one, and those of unknown words otherwise.
        """
        words = list(extended_vocab.get_token_to_index_vocabulary(self._namespace))
        new = words[len(self.weight) + len(self.fixed) :]
        file, width = extension_pretrained_file or self._file, self.get_output_dim()
        vectors = _read(file, new, width, every_word=False) if new else {}
        unknown = self.weight.detach()[1]  # [D]
        rows = [_look_up(vectors, word) for word in new]
        extra = [unknown if row is None else torch.from_numpy(row).to(unknown) for row in rows]
        self.fixed = torch.cat([self.fixed, *(row[None] for row in extra)])


def _refuse_fixed(vocab: Vocabulary, namespace: str) -> None:
    """A vocabulary that was saved has the entry of right; only one that was just counted tells what its data have."""
    counted = vocab._retained_counter or {}
    if FIXED in counted.get(namespace, {}):
        raise InputError(f"the data have the word {FIXED!r}, which has a meaning of its own", hint="spell it otherwise")


def _read(file: str | None, words: Collection[str], width: int, *, every_word: bool) -> dict[str, np.ndarray]:
    """The file's vectors of these words, or of all it has, the first where a word comes twice; says what it found."""
    if file is None:
        return {}
    wanted = None if every_word else {*words, *(word.lower() for word in words)}
    vectors: dict[str, np.ndarray] = {}
    for word, vector in read_vectors(file, width=width, wanted=wanted):
        vectors.setdefault(word, vector)
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


def _table(words: list[str], vectors: dict[str, np.ndarray], width: int) -> Tensor:
    """The rows of all words in the order of their ids: [words, D]."""
    if not vectors:
        table = _random(len(words), width)
    else:
        rows = [_look_up(vectors, word) for word in words]
        known = [row for row in rows if row is not None]
        mean = np.mean(known or list(vectors.values()), axis=0)
        table = torch.from_numpy(np.stack([mean if row is None else row for row in rows]).astype(np.float32))
    table[0] = 0.0
    return table
