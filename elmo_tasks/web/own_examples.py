"""The examples of `elmo-tasks serve --examples FILE`, JSON lines as for `predict`."""

from collections.abc import Collection
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_text import parse_json
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.inputs import read_input
from elmo_tasks.tasks.task import Example

MOST = 30
"""Lines of a file: the page asks each model for all of them when it opens."""


def read_examples(file: str, tasks: Collection[str]) -> list[dict[str, Any]]:
    """
    The lines of a file that are not blank, as examples for models of these tasks.
    Raises `InputError` if there are several, a line is no input of the task, or the
    lines are none or too many.
    """
    names = sorted(set(tasks))
    if len(names) > 1:
        problem = f"--examples: expected models of one task, got {', '.join(names)}"
        raise InputError(problem)
    kind = TASKS[names[0]].input
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
            read_input(kind, data)
        except InputError as error:
            raise InputError(str(error), file=file, line=number) from None
        data.pop("id", None)  # which no form has
        examples.append(Example(data)._asdict())
    if not examples:
        raise InputError("expected at least one line, got none", file=file)
    return examples
