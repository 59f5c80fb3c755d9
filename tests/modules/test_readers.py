"""Properties of the readers of all six tasks."""

from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance
from allennlp.data.dataset_readers.dataset_reader import WorkerInfo

from elmo_tasks.errors import InputError
from tests.archives.make import TASKS
from tests.tiny import REAL_DATA

FILES = {
    "coref": "coref/dev.gold_conll",
    "ner": "ner/eng.testa",
    "snli": "snli/snli_1.0_dev.jsonl",
    "squad": "squad/dev-v1.1.json",
    "srl": "srl/development",
    "sst": "sst/dev.txt",
}
INSTANCES = {"coref": 30, "snli": 9842, "srl": 3788, "sst": 1101}
"""The number of instances of a real file."""


def reader(task: str) -> DatasetReader:
    return DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}"}))


def key(instance: Instance) -> str:
    return str(instance["metadata"].metadata)


@pytest.mark.parametrize("task", TASKS)
def test_workers_share_the_instances(task: str) -> None:
    file, seen = TASKS[task][1], []
    for worker in range(2):
        one = reader(task)
        one._set_worker_info(WorkerInfo(num_workers=2, id=worker))
        seen.append([key(instance) for instance in one.read(file)])
    assert all(seen) and sorted(seen[0] + seen[1]) == sorted(key(instance) for instance in reader(task).read(file))


@pytest.mark.parametrize("task", TASKS)
def test_a_missing_file_is_an_error_with_its_corpus(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_TASKS_DATA", str(tmp_path))
    with pytest.raises(InputError, match=rf"ELMO_TASKS_DATA .*{FILES[task]}"):
        list(reader(task).read(tmp_path / FILES[task]))


@pytest.mark.parametrize("task", INSTANCES)
def test_real_data(task: str) -> None:
    file = REAL_DATA / FILES[task]
    if not file.exists():
        pytest.skip(f"{file} is absent")
    assert len(list(reader(task).read(file))) == INSTANCES[task]
