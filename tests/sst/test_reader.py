"""The SST reader: phrases and sentences, five classes and two, counts, workers, and the real treebank if at hand."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader

from elmo_tasks.errors import InputError
from elmo_tasks.sst.reader import SstReader
from tests.tiny import FIXTURES, REAL_DATA

FIXTURE = FIXTURES / "sst" / "trees.txt"

Labelled = tuple[str, str]
SENTENCES = [
    ("The ferry ran on time .", "3"),
    ("Oakes 's third novel ( 1/2 ) is not good at all", "1"),
    ("Splendid", "4"),
    ("The soup came at noon", "2"),
]
LONG_PHRASES = [
    ("ran on time .", "3"),
    ("The ferry ran on time .", "3"),
    ("third novel ( 1/2 )", "2"),
    ("not good at all", "0"),
    ("is not good at all", "0"),
    ("third novel ( 1/2 ) is not good at all", "1"),
    ("Oakes 's third novel ( 1/2 ) is not good at all", "1"),
    ("The soup came at noon", "2"),
]

pytestmark = pytest.mark.usefixtures("heard_counts")


def metadata(instance: Instance) -> dict[str, Any]:
    return instance["metadata"].metadata


def read(file: Path = FIXTURE, **keys: Any) -> list[Labelled]:
    instances = list(SstReader(**keys).read(file))
    assert [metadata(i)["label"] for i in instances] == [i["label"].label for i in instances]
    assert [metadata(i)["words"] for i in instances] == [[token.text for token in i["tokens"]] for i in instances]
    return [(" ".join(metadata(i)["words"]), metadata(i)["label"]) for i in instances]


def test_whole_sentences(caplog: pytest.LogCaptureFixture) -> None:
    assert read() == SENTENCES
    counts = "4 sentences, 44 phrases in all, 4 instances (whole sentences), 24 words (labels 1 1, 2 1, 3 1, 4 1)"
    assert f"{FIXTURE}: {counts}" in caplog.text


def test_phrases_of_four_or_more_words(caplog: pytest.LogCaptureFixture) -> None:
    assert read(min_phrase_length=4) == LONG_PHRASES
    counts = "4 sentences, 44 phrases in all, 8 instances (phrases of 4 or more words, repeated ones kept), 51 words"
    assert counts in caplog.text


def test_all_phrases_and_repeated_ones(tmp_path: Path) -> None:
    assert len(read(min_phrase_length=1)) == 44
    tree = "(3 (2 a) (3 (3 good) (2 day)))\n"
    (tmp_path / "twice.txt").write_text(tree * 2)
    assert read(tmp_path / "twice.txt", min_phrase_length=2) == [("good day", "3"), ("a good day", "3")] * 2


def test_two_classes_leave_out_what_is_neutral() -> None:
    names = {"0": "negative", "1": "negative", "3": "positive", "4": "positive"}
    for shortest in (None, 4):
        wanted = [(text, names[label]) for text, label in read(min_phrase_length=shortest) if label != "2"]
        assert read(min_phrase_length=shortest, classes=2) == wanted
        assert len(wanted) in (3, 6)


def test_fields_of_an_instance() -> None:
    reader = SstReader()
    (instance,) = [i for i in reader.read(FIXTURE) if metadata(i)["line"] == 3]
    assert metadata(instance) == {"words": ["Splendid"], "label": "4", "file": str(FIXTURE), "line": 3}
    instance.index_fields(Vocabulary.from_instances([instance]))
    tensors = instance.as_tensor_dict()
    shapes = {name: tuple(t.shape) for part in tensors["tokens"].values() for name, t in part.items()}
    assert {name: set(part) for name, part in tensors["tokens"].items()}.keys() == {"tokens", "elmo"}
    assert sorted(shapes.values()) == [(1,), (1, 50)]
    assert tensors["label"].shape == ()


def test_an_instance_without_a_label() -> None:
    instance = SstReader().text_to_instance(["It", "works"])
    assert "label" not in instance.fields
    assert metadata(instance)["label"] is None


def test_workers_read_every_sentence_once() -> None:
    loader = MultiProcessDataLoader(SstReader(min_phrase_length=4), str(FIXTURE), batch_size=2, num_workers=2)
    texts = [(" ".join(metadata(i)["words"]), metadata(i)["label"]) for i in loader.iter_instances()]
    assert Counter(texts) == Counter(LONG_PHRASES)


def test_built_from_its_registered_name() -> None:
    params = Params({"type": "elmo_tasks_sst", "min_phrase_length": 4, "classes": 2, "max_instances": 2})
    reader = DatasetReader.from_params(params)
    assert isinstance(reader, SstReader)
    assert len(list(reader.read(FIXTURE))) == 2


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"classes": 3}, "classes must be 5 or 2, found 3"),
        ({"min_phrase_length": 0}, r"min_phrase_length must be null or at least 1, found 0 \(null reads whole"),
    ],
)
def test_knobs_out_of_range(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SstReader(**keys)


def test_instances_out_of_range() -> None:
    with pytest.raises(InputError, match=r"f\.txt:7: a text needs a token at least"):
        SstReader().text_to_instance([], "3", file="f.txt", line=7)
    with pytest.raises(InputError, match=r"the label must be one of 0, 1, 2, 3, 4, found 'positive'"):
        SstReader().text_to_instance(["x"], "positive")
    with pytest.raises(InputError, match=r"the label must be one of negative, positive, found '3'"):
        SstReader(classes=2).text_to_instance(["x"], "3")


@pytest.mark.parametrize(
    ("keys", "instances", "words"),
    [({}, 1101, 21274), ({"min_phrase_length": 4}, 12203, 129016), ({"classes": 2}, 872, 17046)],
)
def test_the_treebank(keys: dict[str, int], instances: int, words: int) -> None:
    file = REAL_DATA / "sst" / "dev.txt"
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    seen = read(file, **keys)
    assert (len(seen), sum(len(text.split(" ")) for text, _ in seen)) == (instances, words)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"min_phrase_length": 99}, "no phrase of 99 words with one of 5 labels among 2 trees"),
        ({"classes": 2}, "no sentence with one of 2 labels among 2 trees"),
    ],
)
def test_nothing_left_to_read(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    file = tmp_path / "train.txt"
    file.write_text("(2 (2 so) (2 so))\n(2 (4 well) (2 so))\n")
    with pytest.raises(InputError, match=f"train.txt: {message}"):
        list(SstReader(**keys).read(file))
