"""A task's corpus as plain text for the language model: the task's reader provides sentences (paper, appendix A.1)."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp.data import DatasetReader, Field
from allennlp.data.fields import ListField, TextField

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.data_loader import LmReader
from elmo_tasks.training.subsampling import every_instance


@DatasetReader.register("elmo_tasks_task_text")
class TaskTextReader(LmReader):
    """
    Writes the texts of a task's instances into temporary files, which are deleted with the reader.

    A text that consecutive instances share, such as a passage with several questions or a sentence with several verbs,
    is written once. Tokens are the task's; a document is written sentence by sentence. In distributed training each
    process writes the whole text.

    # Parameters

    - `reader`: the task's.
    - `fields`: the instances' text fields, or lists of text fields.
    """

    def __init__(self, reader: DatasetReader, fields: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not fields:
            raise InputError("elmo_tasks_task_text: expected at least one field, got none")
        self._task_reader, self._names = reader, fields
        self._folder = tempfile.TemporaryDirectory(prefix="elmo_tasks_text_")
        self._files: dict[str, Path] = {}

    def text_files(self, data_path: Any) -> list[Path]:
        """
        One file with the texts of a corpus.

        Raises `InputError` if an instance lacks a field or the field has no text; whatever the task's reader raises.
        """
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
                    raise InputError(f"expected a field {name!r}, got {', '.join(sorted(instance.fields))}")
                lines = list(_sentences(instance.fields[name], name))
                if lines != last.get(name):
                    yield from lines
                last[name] = lines


def _sentences(field: Field, name: str) -> Iterator[str]:
    if isinstance(field, TextField):
        yield " ".join(word for token in field.tokens for word in token.ensure_text().split())
    elif isinstance(field, ListField):
        for part in field:
            yield from _sentences(part, name)
    else:
        raise InputError(f"expected a text field {name!r}, got a {type(field).__name__}")
