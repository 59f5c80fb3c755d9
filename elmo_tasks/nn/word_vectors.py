"""
Word ids -> pretrained word vectors, from a text file in the format of GloVe or
word2vec.
"""

import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal, Optional

import numpy as np
import torch
from allennlp.data import Vocabulary
from allennlp.modules.token_embedders import TokenEmbedder
from overrides import overrides
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.formats.vector_files import read_vectors
from elmo_tasks.nn.indexers import rows_of, vectors_of
from elmo_tasks.settings import PathLike, Width, checked

logger = logging.getLogger(__name__)

FIXED = "@@FIXED_VECTORS@@"
"""
The vocabulary entry that separates words whose vectors may be trained from words with
fixed vectors.
"""

UNKNOWN = 1
"""The id of unknown words, after that of the padding."""

NOT_LOOKED_UP = "lookup_file: expected vectors of unknown words in the batch, got none"
HOW_TO_LOOK_UP = (
    "set lookup_files of the dataset reader, or of the token indexer"
    " elmo_tasks_word_ids, to a list of the same files"
)


@TokenEmbedder.register("elmo_tasks_word_vectors")
class WordVectors(TokenEmbedder):
    """
    A vector for each word of the vocabulary, which AllenNLP builds from the training
    and validation data: the file's vector of the word, else that of the lower-cased
    word. `unknown` gives the vectors of other words.

    # Parameters

    - `embedding_dim`: width of the vectors (D).
    - `vocab`: passed by AllenNLP. The entry `FIXED` is added.
    - `pretrained_file`: file with the initial vectors, plain or gzip, with or without
      word2vec's header; null: random vectors. Ignored when an archive is loaded, which
      contains the vectors.
    - `lookup_file`: the same file. Its vectors stand for words that the vocabulary lacks:
      the batch contains them, since the reader's `lookup_files` name it, too. A word
      that is added to the vocabulary later begins with its vector.
    - `trainable`: if true, the vectors of words in the data are trained.
    - `keep_all_pretrained`: instead of `lookup_file`: add all other words of the file to
      the vocabulary, with fixed vectors. Each adds 4 D bytes to every checkpoint.
    - `unknown`: initial vectors of words that the file lacks: the `mean` of the vectors
      found, `zero`, or `random`, from a normal distribution with the mean and standard
      deviation of the vectors found, as in AllenNLP.
    - `normalize`: if true, scale the file's vectors to length 1.
    - `vocab_namespace`: the vocabulary namespace of the words.

    Raises `InputError` as `read_vectors` does, and if the two files differ.
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
        if lookup_file is not None and pretrained_file not in (None, lookup_file):
            raise InputError("lookup_file: expected the pretrained_file, got another")
        known = list(vocab.get_token_to_index_vocabulary(vocab_namespace))
        in_data = known[2:]  # after padding and unknown words
        vectors = _read(
            pretrained_file,
            in_data,
            embedding_dim,
            keep_all=keep_all_pretrained,
            normalize=normalize,
        )
        if pretrained_file is not None:
            _report(pretrained_file, in_data, vectors)
        first_fixed = vocab.add_token_to_namespace(FIXED, vocab_namespace)
        if keep_all_pretrained:
            for word in vectors:
                vocab.add_token_to_namespace(word, vocab_namespace)
        words = list(vocab.get_token_to_index_vocabulary(vocab_namespace))
        table = _table(words, vectors, embedding_dim, unknown)  # [words, D]
        table[0] = 0.0  # padding
        self.weight = nn.Parameter(table[:first_fixed], requires_grad=trainable)
        self.register_buffer("fixed", table[first_fixed:].clone())
        self.fixed: Tensor
        self._first_fixed = first_fixed
        self._namespace = vocab_namespace
        self._normalize = normalize
        self._file = pretrained_file or lookup_file
        self._looks_up = lookup_file is not None

    @overrides
    def get_output_dim(self) -> int:
        return self.weight.shape[1]

    def forward(self, tokens: Tensor, **looked_up: Tensor) -> Tensor:
        """
        Word ids [B, T], 0 for padding -> vectors [B, T, D], zero for padding.

        `looked_up` is what `WordIndexer` found with its first look-up; it is ignored
        without a `lookup_file`. Raises `InputError` as `embedded` does.
        """
        return self.embedded(tokens, looked_up, 0)

    def embedded(
        self, tokens: Tensor, looked_up: Mapping[str, Tensor], number: int
    ) -> Tensor:
        """
        As `forward`, with what the look-up `number` found, from 0: `vectors_n`
        [B, K, D], and `rows_n` [B, T], which has the row of a token's vector in them,
        or 0. Raises `InputError` if there are none, or they have another width.
        """
        vectors = self._in_table(tokens)
        if not self._looks_up:
            return vectors
        if vectors_of(number) not in looked_up:
            raise InputError(NOT_LOOKED_UP, hint=HOW_TO_LOOK_UP)
        file_vectors = looked_up[vectors_of(number)].to(vectors.dtype)  # [B, K, D]
        if file_vectors.shape[-2] == 1:  # no word of the batch was looked up
            return vectors
        if file_vectors.shape[-1] != vectors.shape[-1]:
            problem = f"expected vectors of width {vectors.shape[-1]}"
            got = file_vectors.shape[-1]
            raise InputError(
                f"the reader's lookup_files.{number}: {problem}, got {got}"
            )
        if self._normalize:
            file_vectors = unit(file_vectors)
        rows = looked_up[rows_of(number)][..., None]  # [B, T, 1]
        own = file_vectors.gather(-2, rows.expand_as(vectors))  # [B, T, D]
        return torch.where(rows > 0, own, vectors)

    def _in_table(self, tokens: Tensor) -> Tensor:
        """Word ids [B, T] -> vectors [B, T, D]."""
        # Among the fixed words, and the new ones after them.
        position = tokens - self._first_fixed
        is_fixed = (position >= 0) & (position < len(self.fixed))  # [B, T]
        fixed_ids = position.clamp(0, len(self.fixed) - 1)
        fixed = nn.functional.embedding(fixed_ids, self.fixed)  # [B, T, D]
        ids = torch.where(position < 0, tokens, tokens - len(self.fixed))
        ids = torch.where(is_fixed, self._first_fixed - 1, ids)
        vectors = nn.functional.embedding(ids, self.weight, padding_idx=0)
        return torch.where(is_fixed[..., None], fixed, vectors)

    def extend_vocab(
        self,
        extended_vocab: Vocabulary,
        vocab_namespace: str | None = None,
        extension_pretrained_file: str | None = None,
        model_path: str | None = None,
    ) -> None:
        """
        Adds the vectors of words that have been added to the vocabulary; they are
        trained if those of the words before them are. AllenNLP calls it, and defines
        the arguments.

        A new word begins with the vector that it had before as an unknown word: the
        file's, else that of the lower-cased word in the vocabulary or the file, else
        that of unknown words. The file is `extension_pretrained_file`, else the module's
        own. If it cannot be read, a warning says so.
        """
        known = extended_vocab.get_token_to_index_vocabulary(self._namespace)
        rows = len(self.weight) + len(self.fixed)
        words = list(known)[rows:]
        if not words:
            return
        vectors = self._vectors_of_new(words, extension_pretrained_file)
        added = []
        for word in words:
            like = known.get(word.lower(), rows)
            vector = vectors.get(word)
            if vector is None and like >= rows:
                vector = vectors.get(word.lower())
            if vector is not None:
                added.append(torch.from_numpy(vector).to(self.weight))
            else:
                added.append(self._row(like if 0 < like < rows else UNKNOWN))
        weight = torch.cat([self.weight.detach(), torch.stack(added)])
        self.weight = nn.Parameter(weight, self.weight.requires_grad)

    def _vectors_of_new(
        self, words: list[str], file: str | None
    ) -> dict[str, np.ndarray]:
        """The file's vectors of new words; none if it cannot be read."""
        width = self.weight.shape[1]
        source = file or self._file
        try:
            return _read(
                source, words, width, keep_all=False, normalize=self._normalize
            )
        except (InputError, OSError) as error:
            logger.warning("%d new words begin as unknown words: %s", len(words), error)
            return {}

    def _row(self, word_id: int) -> Tensor:
        """The vector of a word, [D]."""
        position = word_id - self._first_fixed
        if position < 0:
            return self.weight[word_id].detach()
        if position < len(self.fixed):
            return self.fixed[position]
        return self.weight[word_id - len(self.fixed)].detach()

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *arguments: Any
    ) -> None:
        """
        Loads vectors. In a vocabulary that was extended, they say which words are new.
        """
        weight = state_dict.get(f"{prefix}weight")
        fixed = state_dict.get(f"{prefix}fixed")
        if isinstance(weight, Tensor) and isinstance(fixed, Tensor):
            rows = len(self.weight) + len(self.fixed)
            has_more = len(weight) > len(self.weight)
            # Parameters of the same size stay: an optimizer may have them.
            if has_more and len(weight) + len(fixed) == rows:
                trained = self.weight.new_empty(len(weight), self.weight.shape[1])
                self.weight = nn.Parameter(trained, self.weight.requires_grad)
                self.fixed = self.fixed[: len(fixed)]
        super()._load_from_state_dict(state_dict, prefix, *arguments)


@TokenEmbedder.register("elmo_tasks_concatenated_vectors")
class ConcatenatedVectors(TokenEmbedder):
    """
    Concatenates the vectors that several files have for a word.

    # Parameters

    - `parts`: embedders of type `elmo_tasks_word_vectors`, each with its own keys. The
      reader's `lookup_files` have the same order.

    Raises `InputError` if `keep_all_pretrained` of a part adds words that a part before
    it does not have.
    """

    def __init__(self, parts: list[TokenEmbedder]) -> None:
        super().__init__()
        sizes = set()
        for part in parts:
            if isinstance(part, WordVectors):
                sizes.add(len(part.weight) + len(part.fixed))
        if len(sizes) != 1:
            problem = "parts: expected vectors of the same words, got different ones"
            raise InputError(problem, hint="remove keep_all_pretrained")
        self.parts = nn.ModuleList(parts)
        self._dim = sum(part.get_output_dim() for part in parts)

    @overrides
    def get_output_dim(self) -> int:
        return self._dim

    def forward(self, tokens: Tensor, **looked_up: Tensor) -> Tensor:
        """As `WordVectors.forward`, with D the sum of the parts' dimensions."""
        vectors = []
        for number, part in enumerate(self.parts):
            if isinstance(part, WordVectors):
                vectors.append(part.embedded(tokens, looked_up, number))
            else:
                vectors.append(part(tokens))
        return torch.cat(vectors, -1)


def unit(vectors: Tensor) -> Tensor:
    """Vectors [..., D], scaled to length 1 unless they are zero."""
    lengths = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)  # [..., 1]
    return torch.where(lengths == 0, vectors, vectors / lengths)


def _read(
    file: str | Path | None,
    words: Collection[str],
    width: int,
    *,
    keep_all: bool,
    normalize: bool,
) -> dict[str, np.ndarray]:
    """
    The file's vectors of these words, or of all, perhaps scaled to length 1; the first
    if a word occurs twice.
    """
    if file is None:
        return {}
    requested: set[str] | None = None
    if not keep_all:
        requested = {word.lower() for word in words}
        requested.update(words)
    vectors: dict[str, np.ndarray] = {}
    for word, vector in read_vectors(file, width=width, words=requested):
        if word not in vectors:
            if normalize:
                vector = unit(torch.from_numpy(vector)).numpy()
            vectors[word] = vector
    return vectors


def _report(
    file: str | Path, words: Collection[str], vectors: dict[str, np.ndarray]
) -> None:
    """Logs how many of the words a file has, and warns if they are few."""
    exact = 0
    lowered = 0
    for word in words:
        if word in vectors:
            exact += 1
        elif word.lower() in vectors:
            lowered += 1
    logger.info(
        "%s: vectors of %d of %d words, %d more in lower case",
        file,
        exact,
        len(words),
        lowered,
    )
    if exact + lowered < len(words) / 4:
        advice = "does the dataset reader use the right column, and is the language the same?"
        logger.warning(
            "%s has vectors of only %d of %d words: %s",
            file,
            exact + lowered,
            len(words),
            advice,
        )


def _look_up(vectors: dict[str, np.ndarray], word: str) -> np.ndarray | None:
    found = vectors.get(word)
    if found is None:
        return vectors.get(word.lower())
    return found


def _table(
    words: list[str], vectors: dict[str, np.ndarray], width: int, unknown: str
) -> Tensor:
    """The vectors of all words by id, shape [words, D], where training starts."""
    if not vectors:
        return torch.randn(len(words), width) / width**0.5
    rows = [_look_up(vectors, word) for word in words]
    found = [row for row in rows if row is not None]
    known = np.stack(found or list(vectors.values()))  # [found, D]
    if unknown == "random":
        mean = float(known.mean())
        start = torch.normal(mean, float(known.std()), (len(words), width)).numpy()
    elif unknown == "mean":
        start = np.broadcast_to(known.mean(axis=0), (len(words), width))
    else:
        start = np.zeros((len(words), width), known.dtype)
    pairs = zip(rows, start, strict=True)
    filled = [new if row is None else row for row, new in pairs]
    return torch.from_numpy(np.stack(filled).astype(np.float32))
