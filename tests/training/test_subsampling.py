import json
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, Vocabulary

from elmo_tasks.tasks.snli.reader import SnliReader
from elmo_tasks.training.subsampling import SubsamplingReader
from tests.distributed import in_processes

COUNT = 50
NAMES = [f"a{number}" for number in range(COUNT)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    with path.open("w") as lines:
        for name in NAMES:
            pair = {"sentence1": name, "sentence2": "b", "gold_label": "neutral"}
            lines.write(f"{json.dumps(pair)}\n")
    return path


def names(instances: Any) -> list[str]:
    return [instance["metadata"]["premise"][0] for instance in instances]


def sample(file: Path, share: float, *, seed: int = 0, **keys: Any) -> list[str]:
    reader = SubsamplingReader(SnliReader(**keys), share=share, seed=seed)
    return names(reader.read(file))


def test_samples_are_nested_and_in_file_order(file: Path) -> None:
    samples = [sample(file, share) for share in (0.001, 0.1, 0.3, 1.0)]
    assert [len(found) for found in samples] == [1, 5, 15, COUNT]
    for smaller, larger in zip(samples, samples[1:], strict=False):
        assert set(smaller) < set(larger)
        assert sorted(smaller, key=larger.index) == smaller
    assert samples[-1] == NAMES


def test_distributed_processes_share_the_sample(file: Path) -> None:
    parts = in_processes(3, partial(sample, file, 0.3))
    assert all(parts)
    assert sorted(chain.from_iterable(parts)) == sorted(sample(file, 0.3))


def loader(file: Path, **keys: Any) -> DataLoader:
    reader = DatasetReader.from_params(Params({"type": "elmo_tasks_snli"}))
    params = Params({"type": "elmo_tasks_share", "batch_size": 4, **keys})
    built = DataLoader.from_params(params, reader=reader, data_path=str(file))
    built.index_with(Vocabulary.from_instances(built.iter_instances()))
    return built


def test_data_loader(file: Path) -> None:
    built = loader(file, share=0.2)
    assert names(built.iter_instances()) == sample(file, 0.2)
    assert [len(batch["metadata"]) for batch in built] == [4, 4, 2]
    other = loader(file, share=0.2, share_seed=3)
    assert names(other.iter_instances()) == sample(file, 0.2, seed=3)
    workers = loader(file, share=0.2, num_workers=2)
    assert sorted(names(workers.iter_instances())) == sorted(sample(file, 0.2))
