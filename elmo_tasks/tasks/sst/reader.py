"""SST reader: trees -> labelled phrases or sentences (paper, appendix A.8)."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Optional

from allennlp.data import DatasetReader, Field, Instance
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import LabelField, MetadataField
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.trees import NAMES, Phrase, SentimentTree, read_trees
from elmo_tasks.formats.text.text_files import not_empty
from elmo_tasks.nn.indexers import shared_token
from elmo_tasks.settings import Size, checked
from elmo_tasks.tasks.reader import TaskReader, text_field


@DatasetReader.register("elmo_tasks_sst")
class SstReader(TaskReader):
    """
    Reads the treebank's files, `train.txt`, `dev.txt` and `test.txt`, plain or gzip.

    By default each sentence is an instance, as dev and test are scored. With
    `min_phrase_length`, for training, each phrase of at least so many words is one;
    duplicates are kept.

    # Parameters

    - `min_phrase_length`: read phrases of at least this many words; null: whole
      sentences only. The paper trains with 4.
    - `kwargs`: see `TaskReader`.
    """

    @checked
    def __init__(
        self, *, min_phrase_length: Optional[Size] = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._min_phrase_length = min_phrase_length

    @overrides
    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """
        Raises `InputError` with file and line, if a file is invalid or has no instance.
        """
        file = str(file_path)
        problem = f"expected phrases of {self._min_phrase_length} words, got none"
        chosen = not_empty(self._phrases(file), problem, file)
        for tree, phrase in self.shard_iterable(chosen):
            words = tree.words[phrase.start : phrase.end]
            yield self.text_to_instance(words, phrase.label, file=file, line=tree.line)

    def _phrases(self, file: str) -> Iterator[tuple[SentimentTree, Phrase]]:
        """The sentences of a file, or its phrases that are long enough."""
        for tree in read_trees(file):
            if self._min_phrase_length is None:
                yield tree, tree.root
                continue
            for phrase in tree.phrases:
                if phrase.length >= self._min_phrase_length:
                    yield tree, phrase

    def units(self, file: str) -> Sequence[Hashable]:
        """
        The lines of all trees, also of those without a phrase that is long enough: a
        part of the data has the same trees for training and for scoring.
        """
        return [tree.line for tree in read_trees(file)]

    def unit_of(self, instance: Instance) -> Hashable:
        """The tree, which has all its phrases."""
        return instance["metadata"]["line"]

    @overrides(check_signature=False)
    def text_to_instance(
        self,
        tokens: Sequence[str],
        label: str | None = None,
        *,
        file: str | None = None,
        line: int | None = None,
    ) -> Instance:
        """
        An instance with the fields `tokens` (T tokens), `label` (if given: `0` to `4`),
        and `metadata`, a dictionary of `words`, `label`, and `file` and `line` of the
        tree, None where unknown. Raises `InputError` if there is no token, or the label
        is invalid.
        """
        metadata = {"words": list(tokens), "label": label, "file": file, "line": line}
        text = text_field(list(map(shared_token, tokens)), "text", file=file, line=line)
        fields: dict[str, Field] = {"tokens": text, "metadata": MetadataField(metadata)}
        if label is not None:
            if label not in NAMES:
                problem = f"expected one of the labels {', '.join(NAMES)}"
                raise InputError(f"{problem}, got {label!r}", file=file, line=line)
            fields["label"] = LabelField(label)
        return Instance(fields)
