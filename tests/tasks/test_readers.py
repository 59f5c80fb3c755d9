"""What the dataset readers of all tasks have in common."""

import gzip
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance, Token, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.dataset_readers.dataset_reader import WorkerInfo
from allennlp.data.fields import ListField, MetadataField, TextField

from elmo_tasks.errors import InputError
from tests.tiny import REAL_DATA, SAMPLES

REAL = {
    "coref/dev.gold_conll": 30,
    "ner/eng.train": 3394,
    "snli/snli_1.0_dev.jsonl": 9842,
    "srl/development": 3788,
    "sst/dev.txt": 1101,
}
"""Real files, and the number of their instances."""

for_all_tasks = pytest.mark.parametrize("task", SAMPLES)


def reader(task: str, **keys: Any) -> DatasetReader:
    return DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}", **keys}))


def described(instances: list[Instance]) -> list[str]:
    """The contents of instances, without the name of their file."""
    found = []
    for instance in instances:
        found.append(repr([_content(field) for _, field in sorted(instance.items())]))
    return found


def _content(field: Any) -> Any:
    if isinstance(field, MetadataField):
        return {key: value for key, value in field.metadata.items() if key != "file"}
    return str(field)


@for_all_tasks
def test_workers_share_the_instances(task: str) -> None:
    whole = described(list(reader(task).read(SAMPLES[task])))
    parts = []
    for worker in range(2):
        part = reader(task)
        part._set_worker_info(WorkerInfo(num_workers=2, id=worker))
        instances = list(part.read(SAMPLES[task]))
        for instance in instances:
            part.apply_token_indexers(instance)
        parts.append(described(instances))
    assert parts == [whole[0::2], whole[1::2]]


def plain(value: Any) -> Any:
    """Tensors as lists, without the name of the file."""
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        kept = {key: plain(one) for key, one in value.items() if key != "file"}
        return sorted(kept.items())
    if isinstance(value, list):
        return [plain(one) for one in value]
    return str(value)


@for_all_tasks
def test_worker_processes_make_the_same_vocabulary_and_batches(task: str) -> None:
    alone = loader(task, workers=0)
    with_workers = loader(task, workers=2)
    vocabulary = Vocabulary.from_instances(alone.iter_instances())
    words = words_of(vocabulary)
    assert "tokens" in words
    other = Vocabulary.from_instances(with_workers.iter_instances())
    assert words_of(other) == words
    assert batches_of(with_workers, vocabulary) == batches_of(alone, vocabulary)


def loader(task: str, *, workers: int) -> MultiProcessDataLoader:
    return MultiProcessDataLoader(
        reader(task),
        str(SAMPLES[task]),
        batch_size=1,
        num_workers=workers,
        quiet=True,
    )


def words_of(vocabulary: Vocabulary) -> dict[str, set[str]]:
    """The words by namespace."""
    return {name: set(words) for name, words in vocabulary._token_to_index.items()}


def batches_of(made: MultiProcessDataLoader, vocabulary: Vocabulary) -> list[str]:
    """The contents of all batches, in any order."""
    made.index_with(vocabulary)
    return sorted([repr(plain(batch)) for batch in made])


@for_all_tasks
def test_gzip_is_detected_by_content(task: str, tmp_path: Path) -> None:
    packed = tmp_path / "data"
    packed.write_bytes(gzip.compress(SAMPLES[task].read_bytes()))
    assert described(list(reader(task).read(packed))) == described(
        list(reader(task).read(SAMPLES[task]))
    )


@for_all_tasks
def test_max_instances_and_token_indexers(task: str) -> None:
    indexers = {"words": {"type": "elmo_tasks_word_ids", "namespace": "words"}}
    (instance,) = reader(task, token_indexers=indexers, max_instances=1).read(
        SAMPLES[task]
    )
    assert Vocabulary.from_instances([instance]).get_vocab_size("words") > 2


@for_all_tasks
def test_empty_and_missing_files(task: str, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    with pytest.raises(InputError, match="empty.txt"):
        list(reader(task).read(tmp_path / "empty.txt"))
    with pytest.raises(
        InputError,
        match=f"{task}/train: no such file .check the path and the data root; .*http",
    ):
        list(reader(task).read(tmp_path / task / "train"))


@pytest.mark.parametrize(
    ("task", "given", "message"),
    [
        ("ner", (["red", "kite"], ["O"]), "expected a tag for each of 2 tokens, got 1"),
        ("srl", ([], 0), "among 0 words"),
        ("snli", ([], ["x"]), "premise"),
        ("sst", ([], "3"), "text"),
        ("sst", (["fine"], "5"), "expected one of the labels 0, 1, 2, 3, 4, got '5'"),
        ("coref", ([],), "at least one sentence, and at least one word in each"),
        ("coref", ([["Mira"], []],), "at least one word in each sentence"),
    ],
)
def test_invalid_arguments(task: str, given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        reader(task).text_to_instance(*given)


@pytest.mark.parametrize("file", REAL)
def test_real_data(file: str) -> None:
    if not (REAL_DATA / file).exists():
        pytest.skip(f"{REAL_DATA / file} is absent")
    assert len(list(reader(file.split("/")[0]).read(REAL_DATA / file))) == REAL[file]


@pytest.mark.parametrize("task", ["coref", "snli", "srl", "sst"])
def test_occurrences_of_a_word_share_a_token(task: str) -> None:
    """Millions of tokens would need gigabytes."""
    tokens: list[Token] = []
    for instance in reader(task).read(SAMPLES[task]):
        for field in instance.values():
            if isinstance(field, TextField):
                tokens.extend(field)
            elif isinstance(field, ListField):
                for text in field:
                    tokens.extend(text)
    words = {(token.text, token.type_id) for token in tokens}
    assert len({id(token) for token in tokens}) == len(words) < len(tokens)
