"""The examples of `elmo-tasks serve --examples FILE`, JSON lines as for `predict`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_text import parse_json
from elmo_tasks.formats.text.text_files import lines_of, open_binary
from elmo_tasks.tasks.inputs import read_input
from elmo_tasks.tasks.task import Example, Task
from elmo_tasks.web.other_models import OtherModels, record_of

MOST = 30
"""Lines of a file: the page asks each model for all of them when it opens."""


class OwnExamples(NamedTuple):
    """The lines of a file, by their numbers."""

    file: str
    lines: dict[int, Any]

    def of(self, models: Sequence[Mapping[str, Any]]) -> Mapping[str, dict[str, Any]]:
        """
        The page's entries for the task of the models, as they are described, with the
        examples of the file. Raises `InputError` if the models have several tasks, or a
        line is no input of theirs.
        """
        names = sorted({model["task"] for model in models})
        if len(names) > 1:
            problem = f"--examples: expected models of one task, got {', '.join(names)}"
            raise InputError(problem)
        record = record_of(models[0])
        examples = []
        for number, data in self.lines.items():
            try:
                _require_input(record, data)
            except InputError as error:
                raise InputError(str(error), file=self.file, line=number) from None
            if isinstance(record, Task):
                data.pop("id", None)  # which no form has
            examples.append(Example(data)._asdict())
        return {names[0]: {"examples": examples, "source": Path(self.file).name}}


def read_examples(file: str) -> OwnExamples:
    """
    The lines of a file that are not blank. Raises `InputError` if one is no object of
    JSON, or they are none or too many.
    """
    lines: dict[int, Any] = {}
    with open_binary(file) as opened:
        for number, text in lines_of(opened, file):
            if isinstance(text, InputError):
                raise text
            if not text.strip():
                continue
            if len(lines) == MOST:
                problem = f"expected at most {MOST} lines, got more"
                raise InputError(problem, file=file)
            what = "one JSON object per line, as for predict"
            data = parse_json(text.strip(), what, file=file, line=number)
            if not isinstance(data, dict):
                problem = f"expected an object, got {shown(data)}"
                raise InputError(problem, file=file, line=number)
            lines[number] = data
    if not lines:
        raise InputError("expected at least one line, got none", file=file)
    return OwnExamples(file, lines)


def _require_input(record: Task | OtherModels, data: dict[str, Any]) -> None:
    """Raises `InputError` if an object is no input of the predictor."""
    if isinstance(record, Task):
        read_input(record.input, data)
        return
    for key, _ in record.boxes:
        if key not in data:
            raise InputError(f"expected the key {key!r}, got {shown(data)}")
