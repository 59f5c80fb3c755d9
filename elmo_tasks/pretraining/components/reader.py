"""
The readers of a language model's config: of plain text, and of the text of a task.
"""

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Optional

from allennlp.data import DatasetReader, Field, Instance
from allennlp.data.fields import ListField, TextField
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.text.sentences import expand_files, read_sentences
from elmo_tasks.settings import ListOf, Size, checked
from elmo_tasks.training.data.subsampling import every_instance


@DatasetReader.register("elmo_tasks_lm")
class LmReader(DatasetReader):
    """
    Makes no instances: AllenNLP requires a reader in every config, but the data loader
    reads the text itself.

    # Parameters

    - `max_instances`: use this many sentences at most.
    """

    @checked
    def __init__(self, *, max_instances: Optional[Size] = None, **kwargs: Any) -> None:
        super().__init__(max_instances=max_instances, **kwargs)
        self._written: dict[str, Path] = {}

    def text_files(self, data_path: Any) -> list[Path]:
        """
        The text files, one tokenized sentence per line, of a config's data path. Raises
        `InputError`.
        """
        if self.max_instances is None:
            return expand_files(data_path)
        return [self.written(data_path)]

    def written(self, data_path: Any) -> Path:
        """A temporary file with the sentences, which is deleted with this object."""
        name = str(data_path)
        if name not in self._written:
            if not self._written:
                prefix = "elmo_tasks_text_"
                self._folder = tempfile.TemporaryDirectory(prefix=prefix)
            file = Path(self._folder.name) / f"text.{len(self._written)}.txt"
            with file.open("w", encoding="utf-8") as out:
                for line in islice(self.lines(data_path), self.max_instances):
                    out.write(f"{line}\n")
            self._written[name] = file
        return self._written[name]

    def lines(self, data_path: Any) -> Iterator[str]:
        """The sentences of a data path, their words joined by blanks."""
        for sentence in read_sentences(expand_files(data_path)):
            yield " ".join(sentence)

    @overrides
    def _read(self, file_path: Any) -> Iterator[Instance]:
        return iter(())


def text_files(reader: DatasetReader | None, data_path: Any) -> list[Path]:
    """The text files of a data path, which the config's reader may make."""
    if isinstance(reader, LmReader):
        return reader.text_files(data_path)
    return expand_files(data_path)


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
    def __init__(
        self, reader: DatasetReader, fields: ListOf[str], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._task_reader = reader
        self._names = fields

    @overrides
    def text_files(self, data_path: Any) -> list[Path]:
        """
        One file with the texts of a corpus. Raises `InputError` if an instance lacks a
        field, or it has no text.
        """
        return [self.written(data_path)]

    @overrides
    def lines(self, data_path: Any) -> Iterator[str]:
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
