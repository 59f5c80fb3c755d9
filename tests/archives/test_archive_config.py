"""
The config of an archive, with its overrides: the keys that `evaluate` reads are checked
as those of a training.
"""

import copy
import json
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.models.archival import Archive

from elmo_tasks.errors import InputError, one_line
from elmo_tasks.training.archives.loading import load_archive, score
from tests.checks.places import changed, places
from tests.models import SAMPLES
from tests.tasks.test_task_models import STORED
from tests.test_flow import elmo_tasks

VALUES = (None, "x", "", 0, -1, [], [None], {}, True)

READ = ("evaluation", "data_loader", "validation_data_loader")
SEEDS = ("random_seed", "numpy_seed", "pytorch_seed")
"""The keys that `evaluate` reads."""


@pytest.fixture(scope="module")
def archive() -> Archive:
    return load_archive(STORED / "1" / "ner.tar.gz")


def test_every_key_that_evaluate_reads(archive: Archive) -> None:
    config = {
        "evaluation": {"type": "simple", "cuda_device": -1},
        **dict.fromkeys(SEEDS, 1),
        **archive.config.as_dict(quiet=True),
    }
    tried, failed = 0, []
    for place, _ in places(config):
        if place[0] not in (*READ, *SEEDS):
            continue
        for value in VALUES:
            params = Params(changed(config, place, value))
            tried += 1
            try:
                score(archive._replace(config=params), SAMPLES["ner"])
            except Exception as error:
                line = one_line(error)
                if line is None or "\n" in line or str(place[0]) not in line:
                    failed.append((place, value, repr(error)[:200]))
    assert failed == []
    assert tried > 50


@pytest.mark.parametrize("key", ["evaluation", "random_seed", "data_loader"])
def test_overrides_of_evaluate(key: str) -> None:
    options = ["-o", json.dumps({key: "x", "validation_data_loader": None})]
    with pytest.raises(InputError, match=rf"{key}: .*\bx\b"):
        elmo_tasks("evaluate", STORED / "1" / "ner.tar.gz", SAMPLES["ner"], *options)


@pytest.mark.parametrize(
    "added",
    [
        {"evaluation": "simple"},
        {"somebody's": {"own": [None]}},
        {"trainer": {"type": "somebody's"}, "data_loader": {"type": "somebody's"}},
        {"vocabulary": 5, "train_data_path": [None]},
        {"random_seed": None, "numpy_seed": 0},
    ],
)
def test_keys_that_nothing_reads_are_not_checked(
    added: dict[str, Any], archive: Archive
) -> None:
    config = archive.config.as_dict(quiet=True)
    config["validation_data_loader"] = {"batch_size": 2}
    expected = score(archive._replace(config=Params(config)), SAMPLES["ner"])
    changes = copy.deepcopy(config) | copy.deepcopy(added)
    found = score(archive._replace(config=Params(changes)), SAMPLES["ner"])
    assert found == expected
