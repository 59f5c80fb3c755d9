"""
The text of the language model for AllenNLP's trainer: readers, vocabulary and data
loader of a config.
"""

import logging
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Optional, Union

import torch
from allennlp.data import DatasetReader, Field, Instance, Vocabulary
from allennlp.data.data_loaders import DataLoader
from allennlp.data.fields import ListField, TextField
from allennlp.data.vocabulary import NAMESPACE_PADDING_FILE
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.scores.perplexity import first_sentences
from elmo_tasks.pretraining.text.sentences import (
    check_text,
    count_predictions,
    expand_files,
    share_of_files,
)
from elmo_tasks.pretraining.text.stream import LmStream, TrainingStream
from elmo_tasks.pretraining.vocabulary import SPECIALS, WordVocabulary
from elmo_tasks.settings import (
    PathLike,
    Seed,
    Size,
    Wrong,
    checked,
    not_empty,
    require_none,
)
from elmo_tasks.system.files import write_text
from elmo_tasks.training.data.subsampling import every_instance
from elmo_tasks.training.distributed import (
    all_gather_objects,
    node_count,
    node_rank,
    process_count,
    process_rank,
)

logger = logging.getLogger(__name__)

WORDS = "words"
"""
The vocabulary's namespace; its file in an archive, `vocabulary/words.txt`, is an
official `vocabulary.txt`.
"""


@DatasetReader.register("elmo_tasks_lm")
class LmReader(DatasetReader):
    """
    Makes no instances: AllenNLP requires a reader in every config, but the data loader
    reads the text itself.

    # Parameters

    - `max_instances`: has no effect.
    """

    @checked
    def __init__(self, *, max_instances: Optional[Size] = None, **kwargs: Any) -> None:
        super().__init__(max_instances=max_instances, **kwargs)

    def text_files(self, data_path: Any) -> list[Path]:
        """
        The text files, one tokenized sentence per line, of a config's data path. Raises
        `InputError`.
        """
        return expand_files(data_path)

    @overrides
    def _read(self, file_path: Any) -> Iterator[Instance]:
        return iter(())


def require_file_or_files(
    file: object, files: object, size: int | None, min_count: int | None
) -> None:
    """
    Raises `InputError` for arguments of `LmVocabulary` that do not go together.
    """
    found = []
    if (files is None) == (file is None):
        found.append(Wrong("files", "file, or files with size or min_count", files))
    if size is not None and min_count is not None:
        found.append(Wrong("min_count", "null with size", min_count))
    for key, limit in (("size", size), ("min_count", min_count)):
        if file is not None and limit is not None:
            found.append(Wrong(key, "null with file", limit))
    require_none(found)


@Vocabulary.register("elmo_tasks_words", constructor="from_corpus")
class LmVocabulary(Vocabulary):
    """
    A vocabulary with one namespace, `words`: the classes of the language model's
    softmax.
    """

    @classmethod
    @checked
    def from_corpus(
        cls,
        files: Union[PathLike, Annotated[list[PathLike], not_empty], None] = None,
        size: Optional[Size] = None,
        min_count: Optional[Size] = None,
        file: Optional[PathLike] = None,
        reader: Optional[DatasetReader] = None,
    ) -> "LmVocabulary":
        """
        The words of a language model: counted in text, or read from a `vocabulary.txt`.

        # Parameters

        - `files`: paths or globs of text whose words are counted.
        - `size`: keep this many of the most frequent words. Not with `min_count`.
        - `min_count`: keep words that occur at least this often.
        - `file`: a `vocabulary.txt` to read; then `files`, `size` and `min_count` are
          null.
        - `reader`: makes the text from `files`, such as `elmo_tasks_task_text`.

        Raises `InputError` if these do not go together, or a file cannot be read.
        """
        require_file_or_files(file, files, size, min_count)
        if file is not None:
            return cls.of(WordVocabulary.from_file(file))
        paths = text_files(reader, files or [])
        return cls.of(WordVocabulary.count(paths, size=size, min_count=min_count))

    @classmethod
    @checked
    def of_sample(
        cls,
        files: Union[PathLike, Annotated[list[PathLike], not_empty], None] = None,
        size: Optional[Size] = None,
        min_count: Optional[Size] = None,
        file: Optional[PathLike] = None,
        reader: Optional[DatasetReader] = None,
    ) -> "LmVocabulary":
        """As `from_corpus`, but without words, for `check`: it reads nothing."""
        require_file_or_files(file, files, size, min_count)
        return cls.of(WordVocabulary(list(SPECIALS)))

    @classmethod
    def of(cls, words: WordVocabulary) -> "LmVocabulary":
        """The words as AllenNLP's vocabulary, with the same ids."""
        vocabulary = cls(non_padded_namespaces=[WORDS])
        for word in words.words:
            vocabulary.add_token_to_namespace(word, WORDS)
        return vocabulary

    @overrides
    def save_to_files(self, directory: str) -> None:
        """
        As in AllenNLP, but atomic.
        """
        saved = Path(directory) / f"{WORDS}.txt"
        write_text(saved.with_name(NAMESPACE_PADDING_FILE), f"{WORDS}\n")
        self.to_words().save(saved)

    def to_words(self) -> WordVocabulary:
        """The words in the order of their ids."""
        word_of = self.get_index_to_token_vocabulary(WORDS)
        return WordVocabulary([word_of[number] for number in range(len(word_of))])


def text_files(reader: DatasetReader | None, data_path: Any) -> list[Path]:
    """The text files of a data path, which the config's reader may make."""
    if isinstance(reader, LmReader):
        return reader.text_files(data_path)
    return expand_files(data_path)


@DataLoader.register("elmo_tasks_lm")
class LmDataLoader(DataLoader):
    """
    Batches for a bidirectional language model, from running text (`LmStream`).

    In training the stream is endless: an epoch is its next `steps_per_epoch` batches.
    In validation (`shuffle: false`) every iteration is the same single pass, which
    predicts every token of the files once in each direction.

    In distributed training each process has an equal share of the rows, and all shares
    together are the batches of one process. Each process reads the whole text, to know
    which sentences go to the rows of the others. In training on several nodes, each
    node reads only its share of the files, if there are enough, and fills its rows from
    them.

    # Parameters

    - `data_path`: paths or globs of the text, from `train_data_path` or
      `validation_data_path`; a corpus, if the reader is `elmo_tasks_task_text`.
    - `batch_size`: rows of text per direction (B), over all processes.
    - `unroll`: tokens of each row in a batch (T).
    - `seed`: seed of the order of files and sentences; null: the run's `pytorch_seed`.
    - `steps_per_epoch`: batches in an epoch; null: the number of batches in one pass
      over the corpus, which is counted.
    - `shuffle`: true for training: an endless, shuffled stream. False for validation:
      one pass in the order of the text.
    - `max_tokens`: stop a pass after this many predictions, taken in equal shares from
      the start of each file. Only if `shuffle` is false.

    Raises `InputError` if a value is invalid, no file matches, or a file has no text.
    """

    _words: WordVocabulary  # set by `index_with`

    @checked
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
        found = []
        if shuffle and max_tokens is not None:
            found.append(Wrong("max_tokens", "null with shuffle true", max_tokens))
        if not shuffle and steps_per_epoch is not None:
            wanted = "null with shuffle false"
            found.append(Wrong("steps_per_epoch", wanted, steps_per_epoch))
        require_none(found)
        self.endless = shuffle
        share, rest = divmod(batch_size, process_count())
        if rest:
            raise InputError(
                "data loader elmo_tasks_lm: expected a batch_size that is a multiple "
                f"of the {process_count()} processes, got {batch_size}"
            )
        self.reader = reader  # owns the files that it has written
        self.files = text_files(reader, data_path)
        self._nodes = 1  # that share the files
        if self.endless and len(self.files) >= node_count():
            self._nodes = node_count()
        if self._nodes > 1:
            self.files = share_of_files(self.files, node_rank(), self._nodes)
            logger.info("this node reads %s", ", ".join(map(str, self.files)))
        check_text(self.files)
        self.batch_size = batch_size
        self.unroll = unroll
        self.max_tokens = max_tokens
        self.seed = torch.initial_seed() if seed is None else seed
        rank = process_rank() % (process_count() // self._nodes)
        self._own = range(share * rank, share * (rank + 1))
        self._steps = steps_per_epoch
        self._device = torch.device("cpu")
        self._stream: TrainingStream | None = None
        self._to_skip = 0

    @classmethod
    def config_of_sample(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """
        The config of one with a small batch, for the check before a training; it does
        not count the text.
        """
        small = dict(config)
        for key, most in (("batch_size", 2), ("unroll", 20)):
            if isinstance(small.get(key), int):
                small[key] = min(small[key], most)
        if small.get("shuffle", True):
            small["steps_per_epoch"] = 1
        return small

    @overrides
    def __len__(self) -> int:
        if not self.endless:
            raise TypeError("the length of a single pass is not known in advance")
        if self._steps is None:
            predictions = self._predictions_per_pass()
            self._steps = max(1, predictions // (self.batch_size * self.unroll))
            logger.info(
                "%s predictions per pass: %s steps per epoch",
                f"{predictions:,}",
                f"{self._steps:,}",
            )
        return self._steps

    def _predictions_per_pass(self) -> int:
        """Over the files of all nodes; the processes of a node read the same ones."""
        own = count_predictions(self.files)
        counted = all_gather_objects((node_rank(), own))
        if self._nodes == 1:
            _, predictions = counted[0]
            return predictions
        by_node = dict(counted)
        return sum(by_node.values())

    @overrides
    def __iter__(self) -> Iterator[dict[str, Any]]:
        """
        `{"batch": LmBatch}` each time, on the target device. After `resume` the first
        ones are empty: AllenNLP's trainer counts these batches without using them.
        """
        skipped = self._to_skip
        self._to_skip = 0
        if self.endless:
            for _ in range(skipped):
                yield {}
            for _ in range(len(self) - skipped):
                yield {"batch": next(self._training_stream()).to(self._device)}
        else:
            for number, batch in enumerate(self._single_pass()):
                if number < skipped:
                    yield {}
                else:
                    yield {"batch": batch.to(self._device)}

    def _single_pass(self) -> LmStream:
        forward = first_sentences(self.files, max_tokens=self.max_tokens)
        backward = first_sentences(self.files, max_tokens=self.max_tokens)
        return LmStream(
            forward,
            backward,
            self._words,
            batch_size=self.batch_size,
            unroll=self.unroll,
            own=self._own,
        )

    @overrides
    def iter_instances(self) -> Iterator[Instance]:
        return iter(())

    @overrides(check_signature=False)  # AllenNLP's takes any vocabulary
    def index_with(self, vocab: LmVocabulary) -> None:
        self._words = vocab.to_words()

    @overrides
    def set_target_device(self, device: torch.device) -> None:
        self._device = device

    def position(self) -> dict[str, Any]:
        """
        The position of the training stream as plain data; empty for a single pass,
        where a count is enough.
        """
        if not self.endless:
            return {}
        return self._training_stream().position()

    def resume(self, position: dict[str, Any], *, batches: int) -> None:
        """
        Continue at `position` in an epoch, after `batches` empty batches, which a
        resumed trainer skips.
        """
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
    Makes the text of a task's data the training text of a biLM (appendix A.1).

    The texts are written into temporary files, which are deleted with this object. A
    text that consecutive instances share, such as a passage with several questions or a
    sentence with several verbs, is written once. In distributed training each process
    writes the whole text.

    # Parameters

    - `reader`: the reader of the task.
    - `fields`: names of the instances' text fields, or lists of text fields, to use.
    """

    @checked
    def __init__(self, reader: DatasetReader, fields: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._task_reader = reader
        self._names = fields
        self._folder = tempfile.TemporaryDirectory(prefix="elmo_tasks_text_")
        self._files: dict[str, Path] = {}

    def limit_to_sample(self, count: int) -> None:
        """
        Take so many instances of a corpus at most, for the check before a training.
        """
        most = self._task_reader.max_instances
        if most is None or most > count:
            self._task_reader.max_instances = count

    @overrides
    def text_files(self, data_path: Any) -> list[Path]:
        """
        One file with the texts of a corpus. Raises `InputError` if an instance lacks a
        field, or it has no text.
        """
        name = str(data_path)
        if name not in self._files:
            file = Path(self._folder.name) / f"text.{len(self._files)}.txt"
            with file.open("w", encoding="utf-8") as out:
                for line in self._lines(data_path):
                    out.write(f"{line}\n")
            self._files[name] = file
        return [self._files[name]]

    def _lines(self, data_path: Any) -> Iterator[str]:
        last: dict[str, list[str]] = {}
        for instance in every_instance(self._task_reader, data_path):
            for name in self._names:
                if name not in instance.fields:
                    found = ", ".join(sorted(instance.fields))
                    raise InputError(f"expected a field {name!r}, got {found}")
                lines = list(_sentences(instance.fields[name], name))
                if lines != last.get(name):
                    yield from lines
                last[name] = lines


def _sentences(field: Field, name: str) -> Iterator[str]:
    """The text of a text field, or those in a list; raises `InputError` for others."""
    if isinstance(field, TextField):
        words = []
        for token in field.tokens:
            words += token.ensure_text().split()
        yield " ".join(words)
    elif isinstance(field, ListField):
        for part in field:
            yield from _sentences(part, name)
    else:
        raise InputError(
            f"expected a text field {name!r}, got a {type(field).__name__}"
        )
