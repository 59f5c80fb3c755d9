"""
The surprisal of words, from the left and from the right: `WordSurprisal`, which
`elmo-tasks bilm surprisal` uses.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee
from typing import Annotated, Any, NamedTuple, Optional

import numpy as np
import torch

from elmo_tasks.bilm.characters import BEGIN_OF_SENTENCE, END_OF_SENTENCE, token_to_ids
from elmo_tasks.elmo.devices import AUTO, opened_device
from elmo_tasks.elmo.sentences import Sentences, Splitter
from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.marks import Folding
from elmo_tasks.formats.text.raw_text import BASIC, Split, Tokenizer
from elmo_tasks.option_values import InferencePrecision, Quoting, StartState
from elmo_tasks.pretraining.export import load_trained, packed
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.scores.file_sentences import FileSentence, read_file
from elmo_tasks.pretraining.scores.sentence_losses import sentence_losses
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary
from elmo_tasks.settings import Filled, PathLike, checked


class SentenceSurprisal(NamedTuple):
    """
    The surprisal of a sentence of n words, `-log2 P(word | context)`, in bits, by the
    exact softmax. A word outside the vocabulary has that of `<UNK>`, whose probability
    all such words share.

    Forward, the context of a word is what stands before it; backward, what stands after
    it. Each direction also predicts where the sentence ends for it: forward its end
    `</S>`, backward its beginning `<S>`.
    """

    words: list[str]
    is_unknown: list[bool]  # of each word, whether it is outside the vocabulary
    forward: np.ndarray  # float64 [n]
    backward: np.ndarray  # float64 [n]
    begin: float  # backward surprisal of `<S>` before the first word
    end: float  # forward surprisal of `</S>` after the last word

    @property
    def forward_sum(self) -> float:
        """The forward surprisal of all n words and of `</S>`, in bits."""
        return math.fsum(self.forward) + self.end

    @property
    def backward_sum(self) -> float:
        """The backward surprisal of `<S>` and all n words, in bits."""
        return self.begin + math.fsum(self.backward)

    def rows(self) -> list[dict[str, Any]]:
        """
        A row for `<S>` at position 0, each word, and `</S>`: `position`, `word`,
        `forward`, `backward` (`None` where there is none), and `oov`, whether the word
        is outside the vocabulary. An empty sentence has none.
        """
        if not self.words:
            return []
        columns = {
            "position": range(len(self.words) + 2),
            "word": [BEGIN_OF_SENTENCE, *self.words, END_OF_SENTENCE],
            "forward": [None, *self.forward.tolist(), self.end],
            "backward": [self.begin, *self.backward.tolist(), None],
            "oov": [False, *self.is_unknown, False],
        }
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, cells, strict=True)) for cells in rows]


class ScoredSentence(NamedTuple):
    """A sentence of a file and its surprisal: the rows of two tables."""

    sentence: FileSentence
    surprisal: SentenceSurprisal

    def rows(self) -> list[dict[str, Any]]:
        """
        Those of `SentenceSurprisal`, with the place of the sentence before, and the
        region of the word and the cells of other columns behind: the table of
        `elmo-tasks bilm surprisal`.
        """
        regions: Sequence[int | None] = [None, *(self.sentence.regions or ()), None]
        rows = []
        for place, row in enumerate(self.surprisal.rows()):
            if self.sentence.regions is not None:
                row["region"] = regions[place]
            rows.append(self._place() | row | self.sentence.kept)
        return rows

    def sums(self) -> dict[str, Any]:
        """The row of the sentence in the table of `--sentences`."""
        one = self.surprisal
        sums = {
            "words": len(one.words),
            "oov": sum(one.is_unknown),
            "forward": one.forward_sum,
            "backward": one.backward_sum,
        }
        return self._place() | sums | self.sentence.kept

    def _place(self) -> dict[str, Any]:
        one = self.sentence
        return {"file": one.file, "line": one.line, "row": one.row}


_OWN_COLUMNS = (
    *("file", "line", "row", "position", "word", "words", "forward", "backward"),
    *("oov", "region"),
)


def require_kept(keep: Sequence[str], column: str | None) -> None:
    """Raises `InputError` for names of columns that a table of words cannot keep."""
    if keep and column is None:
        raise InputError("keep: expected a column of sentences, got none (--column)")
    for name in keep:
        if name in _OWN_COLUMNS or list(keep).count(name) > 1:
            problem = (
                "keep: expected each name once, and none of the table's own columns"
            )
            hint = "rename the column in the input"
            raise InputError(f"{problem}, got {name!r}", hint=hint)


class WordSurprisal:
    """
    A biLM with its softmax, which gives the surprisal of words. It reads typographic
    marks that the vocabulary lacks as the plain ones that it has, and says so once; its
    results have the plain ones, too.

    >>> surprisal = WordSurprisal.from_pretrained()
    >>> surprisal
    WordSurprisal(3 layers of 320, 30,003 words)

    # Parameters

    - `model`, `vocabulary`: as of `load_trained`. The model is set to evaluation mode.
    - `tokenizer`: how texts are split into words, see `Tokenizer`, by default by the
      basic rule; methods take another one. A list is words, and is not split.
    """

    @checked
    def __init__(
        self,
        model: BiLanguageModel,
        vocabulary: WordVocabulary,
        *,
        tokenizer: Tokenizer = BASIC,
    ) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self.folding = Folding(vocabulary.marks)
        self._splitter = Splitter(tokenizer, folding=self.folding)

    def __repr__(self) -> str:
        bilm = f"{self.model.bilm.n_layers} layers of {self.model.bilm.output_dim}"
        return f"WordSurprisal({bilm}, {len(self.vocabulary):,} words)"

    @property
    def split(self) -> Split:
        """The function of the tokenizer, which splits a text as `score` does."""
        return self._splitter.opened(None)[0]

    @classmethod
    @checked
    def from_pretrained(
        cls,
        model: Optional[PathLike] = None,
        *,
        device: str | int | torch.device | None = AUTO,
        tokenizer: Tokenizer = BASIC,
        precision: InferencePrecision = "float32",
    ) -> "WordSurprisal":
        """
        Open the bundled language model, or one that `load_trained` opens: an exported
        folder, its ZIP or `hf://owner/name`, or the folder of a run. For its errors see
        there.

        # Parameters

        - `device`: as in `Elmo.from_pretrained`.
        - `tokenizer`: that of the constructor.
        - `precision`: of the biLM's matrix products; the softmax is always float32.

        >>> surprisal = WordSurprisal.from_pretrained(device="cpu")
        """
        trained = packed(load_trained(model), precision, opened_device(device))
        return cls(trained.model, trained.vocabulary, tokenizer=tokenizer)

    @checked
    def score(
        self,
        sentences: Sentences,
        *,
        state: StartState = "reset",
        tokenizer: Tokenizer | None = None,
    ) -> list[SentenceSurprisal]:
        """
        The surprisal of the words of N sentences, lists of words or texts. For `state`
        see `sentence_losses`: by default a sentence's surprisal depends on no other
        one; with `carry`, the sentences are a running text. An empty sentence has no
        words, and its sums are zero.

        Raises `InputError` if a value is invalid, or a surprisal is not finite.

        >>> (heard,) = WordSurprisal.from_pretrained().score(["She heard the play."])
        >>> heard.words
        ['She', 'heard', 'the', 'play', '.']
        >>> heard.forward.shape
        (5,)
        """
        return list(self.iter_score(sentences, state=state, tokenizer=tokenizer))

    @checked
    def iter_score(
        self,
        sentences: Sentences,
        *,
        state: StartState = "reset",
        tokenizer: Tokenizer | None = None,
    ) -> Iterator[SentenceSurprisal]:
        """
        As `score`, for a stream of sentences of any length: an iterator of their
        surprisals, in the same order. At most 1,024 sentences are in memory.

        >>> surprisal = WordSurprisal.from_pretrained()
        >>> for one in surprisal.iter_score(["She heard it.", "It ended."]):
        ...     print(len(one.words))
        4
        3
        """
        return self._surprisals(self._splitter.stream(sentences, tokenizer), state)

    @checked
    def rows(
        self,
        sentences: Sentences,
        *,
        state: StartState = "reset",
        tokenizer: Tokenizer | None = None,
    ) -> list[dict[str, Any]]:
        """
        As `score`: a row for each word, such as `pandas.DataFrame` takes, with the keys
        of `SentenceSurprisal.rows`, and `sentence`, the number of the sentence from 0.
        There are no rows of `<S>` and `</S>`.

        >>> rows = WordSurprisal.from_pretrained().rows(["It ended."])
        >>> [row["word"] for row in rows]
        ['It', 'ended', '.']
        """
        found = []
        scored = self.iter_score(sentences, state=state, tokenizer=tokenizer)
        for number, one in enumerate(scored):
            for row in one.rows()[1:-1]:
                found.append({"sentence": number} | row)
        return found

    @checked
    def iter_file(
        self,
        file: PathLike,
        *,
        column: Optional[str] = None,
        keep: Sequence[str] = (),
        regions: Optional[Annotated[str, Filled]] = None,
        separator: Optional[str] = None,
        quoting: Quoting = "minimal",
        state: StartState = "reset",
        tokenizer: Tokenizer | None = None,
    ) -> Iterator[ScoredSentence]:
        """
        The sentences of a file, whose `rows` are those of the table of `elmo-tasks bilm
        surprisal`: of a text with a sentence a line, or of the `column` of a table.

        # Parameters

        - `keep`: further columns of the table, whose cells each row repeats.
        - `regions`: what separates the regions of a sentence, such as `|`. The sentence
          is split into words as a whole, and each word belongs to one region.
        - `separator`, `quoting`: as in `read_table`.

        Raises `InputError` with file and line for an invalid sentence, and if no
        sentence has a word.

        >>> surprisal = WordSurprisal.from_pretrained()
        >>> for one in surprisal.iter_file("in.csv", column="text"):  # doctest: +SKIP
        ...     rows.extend(one.rows())
        """
        split, _ = self._splitter.opened(tokenizer)
        require_kept(keep, column)
        sentences = read_file(
            file,
            split,
            column=column,
            keep=keep,
            regions=regions,
            separator=separator,
            quoting=quoting,
            plain=self.folding.plain_text,
        )
        return self._scored(sentences, state)

    def _scored(
        self, sentences: Iterator[FileSentence], state: StartState
    ) -> Iterator[ScoredSentence]:
        sentences, again = tee(sentences)
        words = (one.words for one in again)
        for found in self._surprisals(words, state):
            yield ScoredSentence(next(sentences), found)

    def reads_alike(self, one: list[str], other: list[str]) -> bool:
        """
        Whether two results' words are the same for the model: they are equal, or differ
        only outside the vocabulary, behind the characters that are read.

        >>> WordSurprisal.from_pretrained().reads_alike(["heard"], ["Heard"])
        False
        """
        return self._read(one) == self._read(other)

    def _read(self, words: list[str]) -> list[tuple[bytes, int]]:
        """What is read of each word, and its id as a target."""
        longest = self.model.bilm.options.max_characters_per_token
        found = []
        for word in words:
            ids = token_to_ids(word, longest=longest)
            found.append((ids.tobytes(), self.vocabulary.id(word)))
        return found

    def _surprisals(
        self, sentences: Iterable[list[str]], state: StartState
    ) -> Iterator[SentenceSurprisal]:
        read = map(self.folding, sentences)
        with self.folding.reading():
            found = sentence_losses(self.model, self.vocabulary, read, state=state)
            for words, losses in found:
                yield self._surprisal(words, losses / math.log(2))

    def _surprisal(self, words: list[str], bits: np.ndarray) -> SentenceSurprisal:
        """That of n words, with the bits [2, n+1] of their targets; [2, 0] of none."""
        if "" in words:
            raise InputError(f"expected words, got an empty one: {shown(words)}")
        if not np.isfinite(bits).all():
            sentence = " ".join(words)
            raise InputError(
                f"expected finite surprisals, got infinity or NaN for {sentence!r:.100}",
                hint="the training diverged or the weights are damaged",
            )
        is_unknown = [self.vocabulary.id(word) == UNKNOWN for word in words]
        forward, backward = bits
        begin = end = 0.0
        if words:
            begin = float(backward[0])
            end = float(forward[-1])
        return SentenceSurprisal(
            words, is_unknown, forward[:-1], backward[1:], begin, end
        )
