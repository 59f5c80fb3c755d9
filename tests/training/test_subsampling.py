import json
from collections import Counter
from collections.abc import Callable, Hashable
from functools import cache, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, Instance, Vocabulary
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.ontonotes import read_documents
from elmo_tasks.tasks.snli.reader import SnliReader
from elmo_tasks.training.config import read_config
from elmo_tasks.training.data.subsampling import (
    SubsamplingReader,
    rest_of,
    units_in,
)
from tests.distributed import in_processes
from tests.models import metadata
from tests.tiny import FIXTURES, ROOT

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
    sampled = names(loader(file, share=0.2, part=[0, 0.9]).iter_instances())
    assert len(sampled) == 9 and set(sampled) < set(NAMES[:45])
    workers = loader(file, share=0.2, num_workers=2)
    assert sorted(names(workers.iter_instances())) == sorted(sample(file, 0.2))


def part(reader: DatasetReader, file: Path, part: tuple[float, float]) -> list[str]:
    return names(SubsamplingReader(reader, part=part).read(file))


def test_pairs_with_the_same_premise_stay_together(file: Path) -> None:
    """Also where other pairs are between them."""
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines + lines[:7]) + "\n")
    kept = (0.0, 0.9)
    aside = rest_of(kept)
    assert part(SnliReader(), file, kept) == NAMES[:44] + NAMES[:7]
    assert part(SnliReader(), file, aside) == NAMES[44:], "six of 57 pairs"


@pytest.mark.parametrize(
    "kept", [(0.0, 0.9), (0.0, 2 / 3), (0.0, 0.5), (0.1, 1.0), (0.1, 0.0), (0.45, 0.3)]
)
def test_parts_have_no_unit_in_common_and_together_all(
    kept: tuple[float, float], file: Path
) -> None:
    """The rest of a part in the middle begins after it and wraps around."""
    lines = file.read_text().splitlines()
    for count in (15, 37, COUNT):
        file.write_text("\n".join(lines[:count]) + "\n")
        found = part(SnliReader(), file, kept) + part(SnliReader(), file, rest_of(kept))
        start = NAMES.index(found[0])
        assert found == NAMES[start:count] + NAMES[:start]
        assert abs(start - kept[0] * count) <= 0.5 + 1e-9


@pytest.mark.parametrize(("end", "kept"), [(0.9, "all"), (0.1, "none")])
def test_a_part_without_a_unit_is_an_error(file: Path, end: float, kept: str) -> None:
    """And so is the other part, which has all: it is read first, to train on."""
    file.write_text("\n".join(file.read_text().splitlines()[:3]) + "\n")
    both = ((0.0, end), rest_of((0.0, end)))
    rest = {"all": "none", "none": "all"}[kept]
    for chosen, got in zip(both, (kept, rest), strict=True):
        message = rf"part {chosen[0]:g} to {chosen[1]:g}, got {got}.*3 units"
        with pytest.raises(InputError, match=message):
            part(SnliReader(), file, chosen)


MINI = FIXTURES / "miniworld"


@cache
def articles() -> dict[str, int]:
    """The article of each passage."""
    found = {}
    data = json.loads((MINI / "squad/train-v1.1.json").read_text())["data"]
    for number, article in enumerate(data):
        for paragraph in article["paragraphs"]:
            found[paragraph["context"]] = number
    return found


@cache
def documents_of_lines() -> dict[tuple[str, int], str]:
    """The document of each sentence, by its file and line."""
    found = {}
    for document in read_documents(MINI / "srl/train"):
        for sentence in document.sentences:
            found[sentence.file, sentence.line] = document.key
    return found


UNITS: dict[str, Callable[[dict[str, Any]], Hashable]] = {
    "ner": lambda known: known["line"],
    "sst": lambda known: known["line"],
    "snli": lambda known: " ".join(known["premise"]),
    "squad": lambda known: articles()[known["passage"]],
    "srl": lambda known: documents_of_lines()[known["file"], known["line"]],
    "coref": lambda known: known["key"],
}
"""What must not be divided, told from what a task's instances say of themselves."""


@pytest.mark.parametrize("task", UNITS)
def test_no_task_divides_a_document_an_article_or_a_sentence(task: str) -> None:
    """
    What is trained on is read by the reader of the training data, what is aside by that
    of the validation data.
    """
    config = read_config(ROOT / f"training_config/{task}.jsonnet").as_dict()
    train = DatasetReader.from_params(Params(config["dataset_reader"]))
    scoring = train
    if "validation_dataset_reader" in config:
        scoring = DatasetReader.from_params(Params(config["validation_dataset_reader"]))
    data = config["train_data_path"]
    kept = (0.0, 0.9)
    aside = rest_of(kept)

    def units(reader: DatasetReader, chosen: tuple[float, float]) -> list[Hashable]:
        instances: list[Instance] = list(
            SubsamplingReader(reader, part=chosen).read(data)
        )
        return [UNITS[task](metadata(one)) for one in instances]

    every = units(scoring, (0.0, 1.0))
    trained = set(units(train, kept))
    scored = units(scoring, aside)
    assert trained.isdisjoint(scored)
    assert trained | set(scored) == set(every)
    in_order = list(dict.fromkeys(every))
    assert set(scored) == set(in_order[-len(set(scored)) :])
    largest = max(Counter(every).values())
    assert abs(len(scored) - 0.1 * len(every)) <= largest / 2


def sizes(total: int) -> st.SearchStrategy[list[int]]:
    """The numbers of instances of some units."""
    return st.lists(st.integers(1, total), min_size=1, max_size=12)


@given(sizes(40), st.lists(st.floats(0, 1), max_size=4))
def test_parts_have_their_share_of_the_instances(
    counts: list[int], edges: list[float]
) -> None:
    """Within half of a unit at each end, in file order; together all units once."""
    instances = []
    for unit, count in enumerate(counts):
        instances += [unit] * count
    found = []
    for start, end in pairwise(sorted({0.0, *edges, 1.0})):
        chosen = units_in((start, end), instances)
        found += sorted(chosen)
        share = sum(counts[unit] for unit in chosen) / len(instances)
        assert abs(share - (end - start)) <= max(counts) / len(instances) + 1e-9
    assert found == list(range(len(counts)))


def test_trees_without_a_long_phrase_count_in_both_parts(tmp_path: Path) -> None:
    """Else the part that is scored would begin with trees that are trained on."""
    file = tmp_path / "train.txt"
    file.write_text(
        "(2 (2 Yes) (2 .))\n" * 10 + "(3 (2 It) (3 (3 works) (2 .)))\n" * 10
    )
    kept = (0.0, 0.9)
    aside = rest_of(kept)
    lines = {}
    for chosen, length in ((kept, 3), (aside, None)):
        options = {"type": "elmo_tasks_sst", "min_phrase_length": length}
        reader = DatasetReader.from_params(Params(options))
        found = SubsamplingReader(reader, part=chosen).read(file)
        lines[chosen] = {metadata(one)["line"] for one in found}
    assert lines == {kept: set(range(11, 19)), aside: {19, 20}}


def test_a_file_with_one_article_is_divided_between_paragraphs(tmp_path: Path) -> None:
    paragraphs = []
    for number in range(10):
        asked = []
        for question in ("a", "b"):
            answer = {"text": "here", "answer_start": 0}
            known = {"id": f"{number}{question}", "question": "Where ?"}
            asked.append(known | {"answers": [answer]})
        paragraphs.append({"context": f"here {number}", "qas": asked})
    file = tmp_path / "train.json"
    file.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))
    reader = DatasetReader.from_params(Params({"type": "elmo_tasks_squad"}))
    found = SubsamplingReader(reader, part=(0.9, 1.0)).read(file)
    assert [metadata(one)["id"] for one in found] == ["9a", "9b"]
