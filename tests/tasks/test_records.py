"""The records of tasks fit the page and the predictors."""

import pytest
from allennlp.predictors import Predictor
from allennlp.training.metrics import Metric

from elmo_tasks.experiments.published import published
from elmo_tasks.resources import SCALES, configs_root, scale_folder
from elmo_tasks.tasks import TASKS
from elmo_tasks.tasks.inputs import read_input
from tests.tiny import ROOT

PACKAGE = "elmo_tasks.tasks."


@pytest.mark.parametrize("task", TASKS)
def test_the_page_and_the_predictor_take_the_input_of_the_record(task: str) -> None:
    record = TASKS[task]
    assert Predictor.by_name(f"elmo_tasks_{task}").takes is record.input
    page = (ROOT / "elmo_tasks/web/static/page.js").read_text("utf-8")
    assert f"\n  {record.page.drawing}: {{" in page
    assert record.input.boxes()
    assert record.examples
    for example in record.examples:
        read_input(record.input, example.input)
        assert (example.gold is not None) == record.has_gold


def test_titles_are_the_names_of_the_paper() -> None:
    titles = [task.title for task in TASKS.values() if task.paper]
    assert titles == list(published("Table 1"))


@pytest.mark.parametrize("scale", SCALES)
def test_the_papers_tasks_have_configs_at_all_scales(scale: str) -> None:
    folder = scale_folder(configs_root(), scale)
    for task in TASKS.values():
        if task.paper:
            assert (folder / f"{task.name}.jsonnet").exists()
            assert (folder / f"{task.name}_elmo.jsonnet").exists()


def test_metrics_are_those_of_all_processes() -> None:
    """AllenNLP refuses to train with several processes if a metric does not say so."""
    ours = [kind for kind in subclasses(Metric) if kind.__module__.startswith(PACKAGE)]
    assert len(ours) >= 6
    assert all(kind.supports_distributed for kind in ours)


def subclasses(kind: type) -> list[type]:
    found = []
    for one in kind.__subclasses__():
        found += [one, *subclasses(one)]
    return found
