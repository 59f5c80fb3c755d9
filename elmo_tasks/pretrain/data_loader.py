"""The language model's text as AllenNLP's trainer wants it: reader, data loader and vocabulary of a config."""

import logging
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from allennlp.data import DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import DataLoader

from elmo_tasks.errors import InputError
from elmo_tasks.pretrain.evaluation import first_sentences
from elmo_tasks.pretrain.stream import LmBatch, LmStream, SentenceSource, TokenRows, expand_files
from elmo_tasks.pretrain.vocabulary import WordVocabulary

logger = logging.getLogger(__name__)

WORDS = "words"
"""The vocabulary's namespace; its file in an archive, `vocabulary/words.txt`, is an official `vocabulary.txt`."""

_FILES_AT_ONCE = 32
_SHUFFLED_LINES = 200_000
"""Lines in memory over all open files."""

_BACKWARD_SEED = 0x5EED
"""Apart from the forward seed, so that a step's two losses come from different sentences."""


@DatasetReader.register("elmo_tasks_lm")
class LmReader(DatasetReader):
    """Makes no instances: AllenNLP wants a reader in every config, the data loader reads the text itself."""

    def _read(self, file_path: Any) -> Iterator[Instance]:
        return iter(())


@Vocabulary.register("elmo_tasks_words", constructor="from_corpus")
class LmVocabulary(Vocabulary):
    """A vocabulary with one namespace, `words`: the classes of the language model's softmax."""

    @classmethod
    def from_corpus(
        cls,
        files: str | list[str] | None = None,
        size: int | None = None,
        min_count: int | None = None,
        file: str | None = None,
    ) -> "LmVocabulary":
        """
        Count the words of a corpus, or take an existing list of them.

        # Parameters

        files : `str` or `list[str]`, optional
            Paths or globs of the text to count.
        size, min_count : `int`, optional
            Keep so many of the most frequent words, or those seen so often.
        file : `str`, optional
            An existing `vocabulary.txt` instead.

        # Raises

        `InputError` where not exactly one of `files` and `file` is given, or what they name cannot be read.
        """
        if (files is None) == (file is None):
            raise InputError("vocabulary elmo_tasks_words: give either files (to count) or file (a vocabulary.txt)")
        if file is not None:
            if size is not None or min_count is not None:
                raise InputError("vocabulary elmo_tasks_words: size and min_count go with files, not with file")
            return cls.of(WordVocabulary.from_file(file))
        return cls.of(WordVocabulary.count(expand_files(files or []), size=size, min_count=min_count))

    @classmethod
    def of(cls, words: WordVocabulary) -> "LmVocabulary":
        """The same words as an AllenNLP vocabulary."""
        vocabulary = cls(non_padded_namespaces=[WORDS])
        for word in words.words:
            vocabulary.add_token_to_namespace(word, WORDS)
        return vocabulary

    def to_words(self) -> WordVocabulary:
        """The same words as a `WordVocabulary`."""
        by_id = self.get_index_to_token_vocabulary(WORDS)
        return WordVocabulary([by_id[i] for i in range(len(by_id))])


@DataLoader.register("elmo_tasks_lm")
class LmDataLoader(DataLoader):
    """
    Batches of the official language-model stream (`LmStream`), under the key `batch`.

    For training the stream goes on from epoch to epoch without end: an epoch is `steps_per_epoch` batches of it.
    For validation (`shuffle: false` and no `steps_per_epoch`) every iteration is the same single pass, in which
    every token of the files is predicted once in each direction.

    # Parameters

    data_path : `str` or `list[str]`
        Paths or globs of the text, from `train_data_path` or `validation_data_path`.
    batch_size, unroll : `int`
        B rows of T tokens in each direction.
    seed : `int`
        Of the order of files and sentences.
    steps_per_epoch : `int`, optional
        Default: as many batches as the corpus fills once, which is counted.
    shuffle : `bool`
    max_tokens : `int`, optional
        In a single pass, stop after so many predictions: each file gives an equal share, from its beginning.

    # Raises

    `InputError` where no file matches, a number is below 1, or `max_tokens` is given for an endless stream.
    """

    def __init__(
        self,
        reader: DatasetReader,
        data_path: Any,
        batch_size: int,
        unroll: int = 20,
        seed: int = 0,
        steps_per_epoch: int | None = None,
        shuffle: bool = True,
        max_tokens: int | None = None,
    ) -> None:
        self.files = expand_files(data_path)
        self.batch_size, self.unroll, self.seed, self.shuffle = batch_size, unroll, seed, shuffle
        self.endless = shuffle or steps_per_epoch is not None
        self.max_tokens = max_tokens
        self._check(steps_per_epoch)
        self._steps = steps_per_epoch
        self._words: WordVocabulary | None = None
        self._device = torch.device("cpu")
        self._stream: TrainingStream | None = None
        self._to_skip = 0

    def _check(self, steps_per_epoch: int | None) -> None:
        given = {
            "batch_size": self.batch_size,
            "unroll": self.unroll,
            "steps_per_epoch": steps_per_epoch,
            "max_tokens": self.max_tokens,
        }
        for name, value in given.items():
            if value is not None and value < 1:
                raise InputError(f"data loader elmo_tasks_lm: {name} must be at least 1, found {value}")
        if self.max_tokens is not None and self.endless:
            raise InputError(
                "data loader elmo_tasks_lm: max_tokens caps a single pass; this stream has no end",
                hint="set shuffle to false and leave steps_per_epoch out, or give steps_per_epoch alone",
            )

    def __len__(self) -> int:
        if not self.endless:
            raise TypeError("a single pass is not counted beforehand")
        if self._steps is None:
            predictions = count_predictions(self.files)
            self._steps = max(1, predictions // (self.batch_size * self.unroll))
            logger.info("%s predictions a pass: %s steps an epoch", f"{predictions:,}", f"{self._steps:,}")
        return self._steps

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if not self.endless:
            for batch in self._single_pass():
                yield {"batch": batch.to(self._device)}
            return
        for _ in range(len(self)):
            if self._to_skip:
                # The trainer counts these batches and does not look into them.
                self._to_skip -= 1
                yield {}
            else:
                yield {"batch": next(self._training_stream()).to(self._device)}

    def iter_instances(self) -> Iterator[Instance]:
        return iter(())

    def index_with(self, vocab: Vocabulary) -> None:
        if not isinstance(vocab, LmVocabulary):
            raise InputError("data loader elmo_tasks_lm wants the vocabulary elmo_tasks_words")
        self._words = vocab.to_words()

    def set_target_device(self, device: torch.device) -> None:
        self._device = device

    def position(self) -> dict[str, Any]:
        """Where the training stream stands: plain data for a checkpoint."""
        return self._training_stream().position()

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """Go on at `position` after `batches` empty batches, those that a resumed trainer passes over."""
        self._training_stream().move_to(position)
        self._to_skip = batches

    def release(self) -> None:
        """Let go of the open files; the next batch would begin the stream anew."""
        self._stream = None

    def _training_stream(self) -> "TrainingStream":
        if self._stream is None:
            self._stream = TrainingStream(
                self.files,
                self._indexed(),
                batch_size=self.batch_size,
                unroll=self.unroll,
                seed=self.seed,
                shuffle=self.shuffle,
            )
        return self._stream

    def _single_pass(self) -> Iterator[LmBatch]:
        forward, backward = (first_sentences(self.files, max_tokens=self.max_tokens) for _ in range(2))
        return LmStream(forward, backward, self._indexed(), batch_size=self.batch_size, unroll=self.unroll)

    def _indexed(self) -> WordVocabulary:
        if self._words is None:
            raise RuntimeError("index_with was not called")
        return self._words


class TrainingStream:
    """
    The endless stream of training batches, which can tell where it stands and move there.

    # Parameters

    files, words, batch_size, unroll, seed, shuffle
        As for `LmDataLoader`.
    """

    def __init__(
        self,
        files: list[Path],
        words: WordVocabulary,
        *,
        batch_size: int,
        unroll: int,
        seed: int,
        shuffle: bool,
    ) -> None:
        self._sentences = {
            "forward": _Sentences(MixedSource(files, shuffle=shuffle, seed=seed)),
            "backward": _Sentences(MixedSource(files, shuffle=shuffle, seed=seed + _BACKWARD_SEED)),
        }
        self._stream = LmStream(
            self._sentences["forward"],
            self._sentences["backward"],
            words,
            batch_size=batch_size,
            unroll=unroll,
        )

    def __next__(self) -> LmBatch:
        return next(self._stream)

    def position(self) -> dict[str, Any]:
        """Per direction the cycle, the sentences taken from it, and what the rows still hold."""
        return {
            name: {
                "cycle": sentences.cycle,
                "taken": sentences.taken,
                "rows": [row[start:] for row, start in zip(rows._current, rows._position, strict=True)],
            }
            for name, sentences, rows in self._directions()
        }

    def move_to(self, position: dict[str, Any]) -> None:
        """
        Go on where `position()` was called, in this or another process.

        # Raises

        `InputError` where the position was taken with another `batch_size`.
        """
        for name, sentences, rows in self._directions():
            saved = position[name]
            if len(saved["rows"]) != len(rows._current):
                raise InputError(
                    f"the checkpoint was written with batch_size {len(saved['rows'])}, this run has "
                    f"{len(rows._current)}"
                )
            sentences.move_to(cycle=saved["cycle"], taken=saved["taken"])
            rows._current = [list(row) for row in saved["rows"]]
            rows._position = [0] * len(rows._current)

    def _directions(self) -> Iterator[tuple[str, "_Sentences", TokenRows]]:
        yield "forward", self._sentences["forward"], self._stream._forward
        yield "backward", self._sentences["backward"], self._stream._backward


class MixedSource:
    """
    A corpus read from all its files side by side, so that a short training, or the end of a long one, sees every
    file in its share: shards may differ, ours are novels and encyclopedia. Sentences are shuffled in blocks of each
    file, and the next file is drawn in proportion to the files' bytes.

    # Parameters

    files, shuffle, seed
        As for `SentenceSource`, which this is without `shuffle`.
    """

    def __init__(self, files: Sequence[Path], *, shuffle: bool, seed: int) -> None:
        self.files, self._shuffle, self._seed = list(files), shuffle, seed

    def once(self, cycle: int) -> Iterator[list[str]]:
        """
        Every sentence once, in the order of this cycle.

        # Raises

        `InputError` where a file is unreadable or holds no sentence.
        """
        if not self._shuffle:
            yield from SentenceSource(self.files, shuffle=False, seed=self._seed).once(cycle)
            return
        order = random.Random(f"{self._seed} {cycle} files")
        waiting = list(self.files)
        order.shuffle(waiting)
        read: list[tuple[Iterator[list[str]], int]] = []
        while read or waiting:
            while waiting and len(read) < _FILES_AT_ONCE:
                read.append(self._open(waiting.pop(), cycle))
            (index,) = order.choices(range(len(read)), [size for _, size in read])
            sentence = next(read[index][0], None)
            if sentence is None:
                del read[index]
            else:
                yield sentence

    def _open(self, file: Path, cycle: int) -> tuple[Iterator[list[str]], int]:
        block = max(1, _SHUFFLED_LINES // min(len(self.files), _FILES_AT_ONCE))
        source = SentenceSource([file], shuffle=True, seed=self._seed, shuffle_buffer=block)
        return source.once(cycle), file.stat().st_size


class _Sentences(Iterator[list[str]]):
    """A source's endless sentences, counted."""

    def __init__(self, source: MixedSource) -> None:
        self._source = source
        self.move_to(cycle=0, taken=0)

    def move_to(self, *, cycle: int, taken: int) -> None:
        self.cycle, self.taken = cycle, 0
        self._iterator = self._source.once(cycle)
        for _ in range(taken):
            next(self)

    def __next__(self) -> list[str]:
        sentence = next(self._iterator, None)
        if sentence is None:
            self.cycle, self.taken = self.cycle + 1, 0
            self._iterator = self._source.once(self.cycle)
            sentence = next(self._iterator)
        self.taken += 1
        return sentence


def count_predictions(files: Iterable[str | Path]) -> int:
    """Predictions of one direction in one pass: every token and every sentence end."""
    source = SentenceSource(files, shuffle=False, seed=0)
    return sum(len(sentence) + 1 for sentence in source.once(0))
