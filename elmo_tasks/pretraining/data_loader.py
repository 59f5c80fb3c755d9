"""The language model's text as AllenNLP's trainer wants it: reader, data loader and vocabulary of a config."""

import logging
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch
from allennlp.data import DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import DataLoader
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE

from elmo_tasks.atomic import atomic_write
from elmo_tasks.compat import first_step
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.evaluation import first_sentences
from elmo_tasks.pretraining.sentences import count_predictions, expand_files, require_text
from elmo_tasks.pretraining.stream import LmBatch, LmStream
from elmo_tasks.pretraining.training_stream import TrainingStream
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from elmo_tasks.training.distributed import process_count, process_rank

logger = logging.getLogger(__name__)

WORDS = "words"
"""The vocabulary's namespace; its file in an archive, `vocabulary/words.txt`, is an official `vocabulary.txt`."""


@DatasetReader.register("elmo_tasks_lm")
class LmReader(DatasetReader):
    """Makes no instances: AllenNLP wants a reader in every config, the data loader reads the text itself."""

    def text_files(self, data_path: Any) -> list[Path]:
        """The text, a tokenised sentence a line, of what a config names. Raises `InputError`."""
        return expand_files(data_path)

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
        reader: DatasetReader | None = None,
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
        reader : `DatasetReader`, optional
            Of `files` that are no plain text, such as `elmo_tasks_task_text`.

        # Raises

        `InputError` where not exactly one of `files` and `file` is given, or what they name cannot be read.
        """
        if (files is None) == (file is None):
            raise InputError("vocabulary elmo_tasks_words: give either files (to count) or file (a vocabulary.txt)")
        if file is not None:
            if size is not None or min_count is not None:
                raise InputError("vocabulary elmo_tasks_words: size and min_count go with files, not with file")
            return cls.of(WordVocabulary.from_file(file))
        return cls.of(WordVocabulary.count(text_files(reader, files or []), size=size, min_count=min_count))

    @classmethod
    def of(cls, words: WordVocabulary) -> "LmVocabulary":
        """The same words as an AllenNLP vocabulary."""
        vocabulary = cls(non_padded_namespaces=[WORDS])
        for word in words.words:
            vocabulary.add_token_to_namespace(word, WORDS)
        return vocabulary

    def save_to_files(self, directory: str) -> None:
        """
        AllenNLP's, each file whole or absent; called for a run that goes on, too, whose weights belong to the words
        that it began with.

        # Raises

        `InputError` where other words stand in the folder already; they stay.
        """
        saved = Path(directory) / f"{WORDS}.txt"
        if saved.is_file():
            _require_same(WordVocabulary.from_file(saved), self.to_words(), saved)
        first_step.note_vocabulary(self, directory)
        with atomic_write(saved.with_name(NAMESPACE_PADDING_FILE)) as aside:
            aside.write_text(f"{WORDS}\n", "utf-8")
        self.to_words().save(saved)

    def to_words(self) -> WordVocabulary:
        """The same words as a `WordVocabulary`."""
        by_id = self.get_index_to_token_vocabulary(WORDS)
        return WordVocabulary([by_id[i] for i in range(len(by_id))])


def text_files(reader: DatasetReader | None, data_path: Any) -> list[Path]:
    """The text files that a config's path means to its reader, if that is one of ours; else those that it names."""
    return reader.text_files(data_path) if isinstance(reader, LmReader) else expand_files(data_path)


def _require_same(saved: WordVocabulary, found: WordVocabulary, file: Path) -> None:
    if saved.words == found.words:
        return
    pairs = enumerate(zip_longest(saved.words, found.words), start=1)
    line, (then, now) = next((line, pair) for line, pair in pairs if pair[0] != pair[1])
    raise InputError(
        f"this run began with other words: {then!r} then, {now!r} now ({len(saved)} and {len(found)} in all)",
        file=file,
        line=line,
        hint="give the vocabulary's text or file as it was, or begin a new run in another folder",
    )


@DataLoader.register("elmo_tasks_lm")
class LmDataLoader(DataLoader):
    """
    Batches of the official language-model stream (`LmStream`), under the key `batch`.

    For training the stream goes on from epoch to epoch without end: an epoch is `steps_per_epoch` batches of it.
    For validation (`shuffle: false` and no `steps_per_epoch`) every iteration is the same single pass, in which
    every token of the files is predicted once in each direction.

    In a distributed training each process has an equal share of the rows, and all of them together have the batches
    of one process. Each one reads the whole text to know which sentences the rows of the others take.

    # Parameters

    data_path : `str` or `list[str]`
        Paths or globs of the text, from `train_data_path` or `validation_data_path`; a corpus, where the reader is
        `elmo_tasks_task_text`.
    batch_size, unroll : `int`
        B rows of T tokens in each direction, over all processes.
    seed : `int`, optional
        Of the order of files and sentences. Default: the run's `pytorch_seed`, which its `seed` sets.
    steps_per_epoch : `int`, optional
        Default: as many batches as the corpus fills once, which is counted.
    shuffle : `bool`
    max_tokens : `int`, optional
        In a single pass, stop after so many predictions: each file gives an equal share, from its beginning.

    # Raises

    `InputError` where no file matches, one holds no text, a number is below 1, `batch_size` is not a multiple of the
    number of processes, or `max_tokens` is given for an endless stream.
    """

    def __init__(
        self,
        reader: DatasetReader,
        data_path: Any,
        batch_size: int,
        unroll: int = 20,
        seed: int | None = None,
        steps_per_epoch: int | None = None,
        shuffle: bool = True,
        max_tokens: int | None = None,
    ) -> None:
        self.reader = reader  # keeps text that it has written
        self.files = text_files(reader, data_path)
        self.batch_size, self.unroll, self.shuffle = batch_size, unroll, shuffle
        self.seed = torch.initial_seed() if seed is None else seed
        self.endless = shuffle or steps_per_epoch is not None
        self.max_tokens = max_tokens
        self._check(steps_per_epoch)
        share = batch_size // process_count()
        self._own = range(share * process_rank(), share * (process_rank() + 1))
        require_text(self.files)
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
        if self.batch_size % process_count():
            raise InputError(
                f"data loader elmo_tasks_lm: expected a batch_size that is a multiple of the {process_count()} "
                f"processes, got {self.batch_size}"
            )
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
            skipped, self._to_skip = self._to_skip, 0
            for number, batch in enumerate(self._single_pass()):
                yield {} if number < skipped else {"batch": batch.to(self._device)}
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
        """Where the training stream stands: plain data for a checkpoint. A single pass needs a count alone."""
        return self._training_stream().position() if self.endless else {}

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """Go on at `position` after `batches` empty batches of an epoch, which a resumed trainer passes over."""
        self._to_skip = batches
        if self.endless:
            self._training_stream().move_to(position)
            self._to_skip = min(batches, len(self))

    def release(self) -> None:
        """Let go of the open files; the next batch would begin the stream anew."""
        self._stream = None

    def _training_stream(self) -> TrainingStream:
        if self._stream is None:
            self._stream = TrainingStream(
                self.files,
                self._indexed(),
                batch_size=self.batch_size,
                unroll=self.unroll,
                seed=self.seed,
                shuffle=self.shuffle,
                own=self._own,
            )
        return self._stream

    def _single_pass(self) -> Iterator[LmBatch]:
        forward, backward = (first_sentences(self.files, max_tokens=self.max_tokens) for _ in range(2))
        words = self._indexed()
        return LmStream(forward, backward, words, batch_size=self.batch_size, unroll=self.unroll, own=self._own)

    def _indexed(self) -> WordVocabulary:
        if self._words is None:
            raise RuntimeError("index_with was not called")
        return self._words
