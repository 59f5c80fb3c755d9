"""The text of the language model for AllenNLP's trainer: readers, vocabulary and data loader of a config."""

import logging
import tempfile
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Optional, Union

import torch
from allennlp.data import DatasetReader, Field, Instance, Vocabulary
from allennlp.data.data_loaders import DataLoader
from allennlp.data.fields import ListField, TextField
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE

from elmo_tasks.errors import InputError
from elmo_tasks.files import write_text
from elmo_tasks.pretraining.evaluation import first_sentences
from elmo_tasks.pretraining.sentences import (
    check_text,
    count_predictions,
    expand_files,
    share_of_files,
)
from elmo_tasks.pretraining.stream import LmStream, TrainingStream
from elmo_tasks.pretraining.vocabulary import SPECIALS, WordVocabulary
from elmo_tasks.settings import (
    PathLike,
    Seed,
    Size,
    Wrong,
    checked,
    not_empty,
    together,
)
from elmo_tasks.training.distributed import (
    all_gather_objects,
    node_count,
    node_rank,
    process_count,
    process_rank,
)
from elmo_tasks.training.subsampling import every_instance

logger = logging.getLogger(__name__)

WORDS = "words"
"""The vocabulary's namespace; its file in an archive, `vocabulary/words.txt`, is an official `vocabulary.txt`."""


@DatasetReader.register("elmo_tasks_lm")
class LmReader(DatasetReader):
    """Makes no instances: AllenNLP requires a reader in every config, but the data loader reads the text itself."""

    @checked
    def __init__(self, *, max_instances: Optional[Size] = None, **kwargs: Any) -> None:
        super().__init__(max_instances=max_instances, **kwargs)

    def text_files(self, data_path: Any) -> list[Path]:
        """The text files, one tokenized sentence per line, of a config's data path. Raises `InputError`."""
        return expand_files(data_path)

    def _read(self, file_path: Any) -> Iterator[Instance]:
        return iter(())


def file_or_files(values: Mapping[str, Any]) -> Iterator[Wrong]:
    """The rule of `LmVocabulary.from_corpus`."""
    file, wanted = values["file"], "file, or files with size or min_count"
    if (values["files"] is None) == (file is None):
        yield Wrong("files", wanted, values["files"])
    if values["size"] is not None and values["min_count"] is not None:
        yield Wrong("min_count", "null with size", values["min_count"])
    for limit in ("size", "min_count"):
        if file is not None and values[limit] is not None:
            yield Wrong(limit, "null with file", values[limit])


@Vocabulary.register("elmo_tasks_words", constructor="from_corpus")
class LmVocabulary(Vocabulary):
    """A vocabulary with one namespace, `words`: the classes of the language model's softmax."""

    @classmethod
    @checked
    @together(file_or_files)
    def from_corpus(
        cls,
        files: Union[PathLike, Annotated[list[PathLike], not_empty], None] = None,
        size: Optional[Size] = None,
        min_count: Optional[Size] = None,
        file: Optional[PathLike] = None,
        reader: Optional[DatasetReader] = None,
    ) -> "LmVocabulary":
        """
        Count the words of `files` (paths or globs of text, or what `reader` reads, such as `elmo_tasks_task_text`), up
        to a maximum number (`size`) or with a minimum frequency (`min_count`); or load `file`, a `vocabulary.txt`.
        Raises `InputError` if these do not go together, or a file cannot be read.
        """
        if file is not None:
            return cls.of(WordVocabulary.from_file(file))
        return cls.of(
            WordVocabulary.count(
                text_files(reader, files or []), size=size, min_count=min_count
            )
        )

    @classmethod
    def of_sample(cls) -> "LmVocabulary":
        """One for the check before a training, which counts no text."""
        return cls.of(WordVocabulary([*SPECIALS]))

    @classmethod
    def of(cls, words: WordVocabulary) -> "LmVocabulary":
        vocabulary = cls(non_padded_namespaces=[WORDS])
        for word in words.words:
            vocabulary.add_token_to_namespace(word, WORDS)
        return vocabulary

    def save_to_files(self, directory: str) -> None:
        """
        As in AllenNLP, but atomic. Also called when a run is resumed, whose weights belong to the words of its start:
        raises `InputError` if the folder has other words, and leaves them there.
        """
        saved = Path(directory) / f"{WORDS}.txt"
        if saved.is_file():
            _check_same(WordVocabulary.from_file(saved), self.to_words(), saved)
        write_text(saved.with_name(NAMESPACE_PADDING_FILE), f"{WORDS}\n")
        self.to_words().save(saved)

    def to_words(self) -> WordVocabulary:
        by_id = self.get_index_to_token_vocabulary(WORDS)
        return WordVocabulary([by_id[i] for i in range(len(by_id))])


def text_files(reader: DatasetReader | None, data_path: Any) -> list[Path]:
    return (
        reader.text_files(data_path)
        if isinstance(reader, LmReader)
        else expand_files(data_path)
    )


def _check_same(saved: WordVocabulary, found: WordVocabulary, file: Path) -> None:
    pairs = enumerate(zip_longest(saved.words, found.words), start=1)
    for line, (old, new) in pairs:
        if old != new:
            problem = (
                f"expected the words that this run started with: {old!r}, got {new!r}"
            )
            hint = "restore the vocabulary's text or file, or start a new run in another folder"
            raise InputError(problem, file=file, line=line, hint=hint)


def length_of_pass(values: Mapping[str, Any]) -> Iterator[Wrong]:
    """The rule of `LmDataLoader`."""
    if values["shuffle"] and values["max_tokens"] is not None:
        yield Wrong("max_tokens", "null with shuffle true", values["max_tokens"])
    if not values["shuffle"] and values["steps_per_epoch"] is not None:
        steps = values["steps_per_epoch"]
        yield Wrong("steps_per_epoch", "null with shuffle false", steps)


@DataLoader.register("elmo_tasks_lm")
class LmDataLoader(DataLoader):
    """
    Batches of the official language-model stream (`LmStream`), with the key `batch`.

    In training the stream is endless: an epoch is its next `steps_per_epoch` batches. In validation (`shuffle: false`)
    every iteration is the same single pass, which predicts every token of the files once in
    each direction.

    In distributed training each process has an equal share of the rows, and all shares together are the batches of one
    process. Each process reads the whole text, to know which sentences the other rows take; but in training on several
    nodes, each node reads a share of the files if there are enough, and its rows are filled from these.

    # Parameters

    - `data_path`: paths or globs of the text, from `train_data_path` or `validation_data_path`; a corpus, if the reader
      is `elmo_tasks_task_text`.
    - `batch_size`, `unroll`: B rows of T tokens per direction, over all processes.
    - `seed`: of the order of files and sentences. Default: the run's `pytorch_seed`.
    - `steps_per_epoch`: default: the number of batches in one pass over the corpus, which is counted.
    - `max_tokens`: in a single pass, stop after so many predictions, an equal share from the start of each file.

    Raises `InputError` if a value is invalid, no file matches, or a file has no text.
    """

    _words: WordVocabulary  # set by `index_with`

    @checked
    @together(length_of_pass)
    def __init__(
        self,
        reader: DatasetReader,
        data_path: Any,
        batch_size: Size,
        unroll: Size = 20,
        seed: Optional[Seed] = None,
        steps_per_epoch: Optional[Size] = None,
        shuffle: bool = True,
        max_tokens: Optional[Size] = None,
    ) -> None:
        self.endless = shuffle
        share, rest = divmod(batch_size, process_count())
        if rest:
            problem = f"expected a batch_size that is a multiple of the {process_count()} processes, got {batch_size}"
            raise InputError(f"data loader elmo_tasks_lm: {problem}")
        self.reader = reader  # owns the files that it has written
        self.files = text_files(reader, data_path)
        self._nodes = (
            node_count() if self.endless and len(self.files) >= node_count() else 1
        )
        if self._nodes > 1:
            self.files = share_of_files(self.files, node_rank(), self._nodes)
            logger.info("this node reads %s", ", ".join(map(str, self.files)))
        check_text(self.files)
        self.batch_size, self.unroll, self.max_tokens = batch_size, unroll, max_tokens
        self.seed = torch.initial_seed() if seed is None else seed
        rank = process_rank() % (process_count() // self._nodes)
        self._own = range(share * rank, share * (rank + 1))
        self._steps = steps_per_epoch
        self._device = torch.device("cpu")
        self._stream: TrainingStream | None = None
        self._to_skip = 0

    @classmethod
    def config_of_sample(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """The config of one with a small batch, for the check before a training; it does not count the text."""
        small = dict(config)
        for key, most in (("batch_size", 2), ("unroll", 20)):
            if isinstance(small.get(key), int):
                small[key] = min(small[key], most)
        if small.get("shuffle", True):
            small["steps_per_epoch"] = 1
        return small

    def __len__(self) -> int:
        if not self.endless:
            raise TypeError("the length of a single pass is not known in advance")
        if self._steps is None:
            counted = all_gather_objects((node_rank(), count_predictions(self.files)))
            predictions = (
                sum(dict(counted).values()) if self._nodes > 1 else counted[0][1]
            )
            self._steps = max(1, predictions // (self.batch_size * self.unroll))
            logger.info(
                "%s predictions per pass: %s steps per epoch",
                f"{predictions:,}",
                f"{self._steps:,}",
            )
        return self._steps

    def __iter__(self) -> Iterator[dict[str, Any]]:
        skipped, self._to_skip = self._to_skip, 0
        if self.endless:
            yield from (
                {} for _ in range(skipped)
            )  # the trainer counts these batches without using them
            for _ in range(len(self) - skipped):
                yield {"batch": next(self._training_stream()).to(self._device)}
        else:
            forward, backward = (
                first_sentences(self.files, max_tokens=self.max_tokens)
                for _ in range(2)
            )
            sizes: dict[str, Any] = {
                "batch_size": self.batch_size,
                "unroll": self.unroll,
                "own": self._own,
            }
            for number, batch in enumerate(
                LmStream(forward, backward, self._words, **sizes)
            ):
                yield {} if number < skipped else {"batch": batch.to(self._device)}

    def iter_instances(self) -> Iterator[Instance]:
        return iter(())

    def index_with(self, vocab: LmVocabulary) -> None:
        self._words = vocab.to_words()

    def set_target_device(self, device: torch.device) -> None:
        self._device = device

    def position(self) -> dict[str, Any]:
        """The position of the training stream as plain data; empty for a single pass, where a count is enough."""
        return self._training_stream().position() if self.endless else {}

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """Continue at `position` in an epoch, after `batches` empty batches, which a resumed trainer skips."""
        self._to_skip = batches
        if self.endless:
            self._training_stream().move_to(position)
            self._to_skip = min(batches, len(self))

    def release(self) -> None:
        """Close the files; the next batch would start the stream from the beginning."""
        self._stream = None

    def _training_stream(self) -> TrainingStream:
        if self._stream is None:
            self._stream = TrainingStream(
                self.files,
                self._words,
                batch_size=self.batch_size // self._nodes,
                unroll=self.unroll,
                seed=self.seed,
                own=self._own,
            )
        return self._stream


@DatasetReader.register("elmo_tasks_task_text")
class TaskTextReader(LmReader):
    """
    Writes the texts of the instances of a task's `reader` into temporary files, which are deleted with this one:
    `fields` that are text fields or lists of them, sentence by sentence. A text that consecutive instances share, such
    as a passage with several questions or a sentence with several verbs, is written once. In distributed training each
    process writes the whole text.
    """

    @checked
    def __init__(self, reader: DatasetReader, fields: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._task_reader, self._names = reader, fields
        self._folder = tempfile.TemporaryDirectory(prefix="elmo_tasks_text_")
        self._files: dict[str, Path] = {}

    def limit_to_sample(self, count: int) -> None:
        """Take so many instances of a corpus at most, for the check before a training."""
        most = self._task_reader.max_instances
        self._task_reader.max_instances = count if most is None else min(count, most)

    def text_files(self, data_path: Any) -> list[Path]:
        """One file with the texts of a corpus. Raises `InputError` if an instance lacks a field, or it has no text."""
        name = str(data_path)
        if name not in self._files:
            file = Path(self._folder.name) / f"text.{len(self._files)}.txt"
            with file.open("w", encoding="utf-8") as out:
                out.writelines(f"{line}\n" for line in self._lines(data_path))
            self._files[name] = file
        return [self._files[name]]

    def _lines(self, data_path: Any) -> Iterator[str]:
        last: dict[str, list[str]] = {}
        for instance in every_instance(self._task_reader, data_path):
            for name in self._names:
                if name not in instance.fields:
                    raise InputError(
                        f"expected a field {name!r}, got {', '.join(sorted(instance.fields))}"
                    )
                lines = list(_sentences(instance.fields[name], name))
                if lines != last.get(name):
                    yield from lines
                last[name] = lines


def _sentences(field: Field, name: str) -> Iterator[str]:
    if isinstance(field, TextField):
        yield " ".join(
            word for token in field.tokens for word in token.ensure_text().split()
        )
    elif isinstance(field, ListField):
        for part in field:
            yield from _sentences(part, name)
    else:
        raise InputError(
            f"expected a text field {name!r}, got a {type(field).__name__}"
        )
