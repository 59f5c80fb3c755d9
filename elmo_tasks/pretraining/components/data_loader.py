"""The batches of a language model's text for AllenNLP's trainer."""

import logging
from collections.abc import Iterator
from typing import Any, Optional

import torch
from allennlp.data import DatasetReader, Instance
from allennlp.data.data_loaders import DataLoader
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.reader import text_files
from elmo_tasks.pretraining.scores.perplexity import first_sentences
from elmo_tasks.pretraining.text.sentences import (
    check_text,
    count_predictions,
)
from elmo_tasks.pretraining.text.stream import LmStream, TrainingStream
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from elmo_tasks.settings import (
    Seed,
    Size,
    Wrong,
    checked,
    require_none,
)
from elmo_tasks.training.distributed import (
    process_count,
    process_rank,
)

logger = logging.getLogger(__name__)


@DataLoader.register("elmo_tasks_lm")
class LmDataLoader(DataLoader):
    """
    Batches for a bidirectional language model, from running text (`LmStream`).

    In training the stream is endless: an epoch is its next `steps_per_epoch` batches.
    In validation (`shuffle: false`) every iteration is the same single pass, which
    predicts every token of the files once in each direction.

    In distributed training each process has an equal share of the rows, and all shares
    together are the batches of one process. Each process reads the whole text, to know
    which sentences go to the rows of the others.

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
        check_text(self.files)
        self.batch_size = batch_size
        self.unroll = unroll
        self.max_tokens = max_tokens
        self.seed = torch.initial_seed() if seed is None else seed
        first = share * process_rank()
        self._own = range(first, first + share)
        self._steps = steps_per_epoch
        self._device = torch.device("cpu")
        self._stream: TrainingStream | None = None
        self._to_skip = 0

    def use_few_rows(self) -> None:
        """Make batches of two rows at most, which are enough to try a model."""
        self.batch_size = min(2, self.batch_size)
        self._own = range(self.batch_size)

    @overrides
    def __len__(self) -> int:
        if not self.endless:
            raise TypeError("the length of a single pass is not known in advance")
        if self._steps is None:
            predictions = count_predictions(self.files)
            self._steps = max(1, predictions // (self.batch_size * self.unroll))
            logger.info(
                "%s predictions per pass: %s steps per epoch",
                f"{predictions:,}",
                f"{self._steps:,}",
            )
        return self._steps

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
                batch_size=self.batch_size,
                unroll=self.unroll,
                seed=self.seed,
                own=self._own,
            )
        return self._stream
