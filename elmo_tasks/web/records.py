"""
What the server knows of its models: the record of a task, or of a model that is not of
this package; and the examples of `elmo-tasks serve --examples FILE`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_files import parse_json, require_object
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.inputs import Box, read_input
from elmo_tasks.tasks.task import Example, Page, Task

MOST = 30
"""Lines of a file: the page asks each model for all of them when it opens."""


class AnyObject(BaseModel):
    """An object, which the predictor itself checks, or makes."""

    model_config = ConfigDict(extra="allow")


class OtherModels(NamedTuple):
    """
    What the server knows of models that are not of this package: a form for their input,
    and their output as JSON, unless a script of their opener draws it.
    """

    page: Page
    boxes: tuple[tuple[str, Box], ...]
    examples: tuple[Example, ...] = ()
    input: type[BaseModel] = AnyObject
    output: type[BaseModel] = AnyObject


def record_of(described: Mapping[str, Any]) -> Task | OtherModels:
    """What the server knows of a model that `LoadedModel` has described."""
    page = described["page"]
    if page is None:
        return TASKS[described["task"]]
    about = Page(page["title"], page["about"], "json", limits={}, attention=40)
    return OtherModels(about, tuple([(key, Box(*box)) for key, *box in page["boxes"]]))


def read_examples(
    file: str, models: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """
    The lines of a file that are not blank, as examples for models, as they are
    described. Raises `InputError` if the models have several tasks, a line is no input
    of theirs, or the lines are none or too many.
    """
    tasks = sorted({model["task"] for model in models})
    if len(tasks) > 1:
        problem = f"--examples: expected models of one task, got {', '.join(tasks)}"
        raise InputError(problem)
    record = record_of(models[0])
    examples: list[dict[str, Any]] = []
    for number, text in open_text(file, longest=None):
        if not text.strip():
            continue
        if len(examples) == MOST:
            problem = f"expected at most {MOST} lines, got more"
            raise InputError(problem, file=file)
        what = "one JSON object per line, as for predict"
        data = parse_json(text.strip(), what, file=file, line=number)
        try:
            _require_input(record, data)
        except InputError as error:
            raise InputError(str(error), file=file, line=number) from None
        if isinstance(record, Task):
            data.pop("id", None)  # which no form has
        examples.append(Example(data)._asdict())
    if not examples:
        raise InputError("expected at least one line, got none", file=file)
    return examples


def _require_input(record: Task | OtherModels, data: Any) -> None:
    """Raises `InputError` if a value is no input of the predictor."""
    require_object(data)
    if isinstance(record, Task):
        read_input(record.input, data)
        return
    for key, _ in record.boxes:
        if key not in data:
            raise InputError(f"expected the key {key!r}, got {shown(data)}")
