"""The records of tasks fit the page and the predictors."""

import pytest
from allennlp.predictors import Predictor

from elmo_tasks.tasks import TASKS
from tests.tiny import ROOT


@pytest.mark.parametrize("task", TASKS)
def test_the_page_has_the_drawing_and_the_predictor_the_fields(task: str) -> None:
    record, keys = TASKS[task], Predictor.by_name(f"elmo_tasks_{task}").keys
    assert f"\n  {record.page.drawing}: {{" in (
        ROOT / "elmo_tasks/web/static/page.js"
    ).read_text("utf-8")
    assert {key for key, _, _ in record.page.fields} <= set(keys)
    assert record.examples and all(
        example.keys() <= {*keys, "id"} for example in record.examples
    )
