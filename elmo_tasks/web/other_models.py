"""
Models that are not of this package: a form for their input, and their output as JSON,
unless a script of their opener draws it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.inputs import Box
from elmo_tasks.tasks.task import Example, Page, Task


class AnyObject(BaseModel):
    """An object, which the predictor itself checks, or makes."""

    model_config = ConfigDict(extra="allow")


class OtherModels(NamedTuple):
    """What the server knows of the models that have a predictor."""

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
    boxes = [(key, Box(*box)) for key, *box in page["boxes"]]
    return OtherModels(about, tuple(boxes))
