"""The SNLI reader: exact fields, both ways of cutting, dropped pairs, faults with file and line, workers."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.dataset_readers.dataset_reader import WorkerInfo

from elmo_tasks.errors import InputError
from elmo_tasks.snli.reader import SnliReader, leaves
from tests.tiny import FIXTURES, REAL_DATA

FIXTURE = FIXTURES / "snli" / "snli_1.0_train.jsonl"
PAIR = {"gold_label": "neutral", "sentence1": "A dog barks.", "sentence2": "It rains."}

pytestmark = pytest.mark.usefixtures("heard_counts")


def metadata(instance: Instance) -> dict[str, Any]:
    return instance["metadata"].metadata


def write(file: Path, *records: Any) -> Path:
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def test_fields_from_raw_sentences(caplog: pytest.LogCaptureFixture) -> None:
    instances = list(SnliReader().read(FIXTURE))
    premises = [
        "Two girls in red coats feed the ducks .",
        "The baker ( Mr Oakes ) ca n't find his hat .",
        "Three boats cross the bay at dusk .",
    ]
    hypotheses = ["Girls feed birds .", "A baker has found his hat", "The boats carry herring ."]
    labels = ["entailment", "contradiction", "neutral"]
    assert [" ".join(t.text for t in i["premise"]) for i in instances] == premises
    assert [" ".join(t.text for t in i["hypothesis"]) for i in instances] == hypotheses
    assert [i["label"].label for i in instances] == labels
    assert [metadata(i) for i in instances] == [
        {"premise": p.split(), "hypothesis": h.split(), "label": label, "file": str(FIXTURE), "line": line}
        for p, h, label, line in zip(premises, hypotheses, labels, (1, 3, 4), strict=True)
    ]
    counts = "3 pairs (entailment 1, neutral 1, contradiction 1), 1 without a gold label dropped"
    assert f"{FIXTURE}: {counts}" in caplog.text


def test_words_are_the_leaves_of_the_parses_when_asked() -> None:
    instances = list(SnliReader(tokenization="parse").read(FIXTURE))
    assert " ".join(metadata(instances[1])["premise"]) == "The baker ( Mr Oakes ) ca n't find his hat ."
    assert metadata(instances[0])["hypothesis"] == ["Girls", "feed", "birds", "."]


@pytest.mark.parametrize("parse", ["( ( A dog", "A dog )", ") A ("])
def test_brackets_of_a_parse_that_do_not_match(tmp_path: Path, parse: str) -> None:
    pair = {**PAIR, "sentence1_binary_parse": parse, "sentence2_binary_parse": "( A dog )"}
    file = write(tmp_path / "pairs.jsonl", pair)
    with pytest.raises(InputError, match="pairs.jsonl:1: the brackets of the parse do not match"):
        list(SnliReader(tokenization="parse").read(file))


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        ("(A dog)", r"blanks around each bracket of the parse were wanted; found '\(A dog\)'"),
        ("((((", "blanks around each bracket"),
        ("( A ) ( B )", r"one tree was wanted, with brackets around it; found '\( A \) \( B \)'"),
        ("A dog", "one tree was wanted"),
    ],
)
def test_parses_that_are_no_tree(parse: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        leaves(parse)


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    assert len(list(SnliReader().read(write(tmp_path / "pairs.jsonl", PAIR, "", PAIR, " ")))) == 2


def test_no_pair_with_a_gold_label(tmp_path: Path) -> None:
    file = write(tmp_path / "pairs.jsonl", *[{**PAIR, "gold_label": "-"}] * 3)
    with pytest.raises(InputError, match="pairs.jsonl: no pair has a gold label: all 3 are '-'"):
        list(SnliReader().read(file))


def test_leaves() -> None:
    assert leaves("( ( A dog ) ( barks . ) )") == ["A", "dog", "barks", "."]
    assert leaves("Rain") == ["Rain"]
    assert leaves("( :-RRB- ( dog-LRB-s-RRB- -RRB- ) )") == [":-RRB-", "dog-LRB-s-RRB-", ")"]
    assert leaves("( )") == []


def test_default_indexers_and_tensors() -> None:
    instances = list(SnliReader().read(FIXTURE))
    vocabulary = Vocabulary.from_instances(instances)
    batch = Batch(instances)
    batch.index_instances(vocabulary)
    tensors: Any = batch.as_tensor_dict()
    for name, length in (("premise", 12), ("hypothesis", 6)):
        shapes = {key: tuple(value.shape) for key, of_one in tensors[name].items() for value in of_one.values()}
        assert shapes == {"tokens": (3, length), "elmo": (3, length, 50)}
    assert tensors["label"].shape == (3,)
    assert vocabulary.get_vocab_size("labels") == 3


def test_built_from_its_registered_name() -> None:
    indexers = {"w": {"type": "single_id"}}
    parameters = {"type": "elmo_tasks_snli", "token_indexers": indexers, "max_instances": 2}
    instances = list(DatasetReader.from_params(Params(parameters)).read(FIXTURE))
    assert [metadata(one)["line"] for one in instances] == [1, 3]
    assert set(instances[0]["hypothesis"].token_indexers) == {"w"}


def test_gzip_under_any_name(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_bytes(gzip.compress(FIXTURE.read_bytes()))
    assert len(list(SnliReader().read(file))) == 3


def test_a_line_at_a_time(tmp_path: Path) -> None:
    file = write(tmp_path / "pairs.jsonl", PAIR, "no JSON")
    stream = iter(SnliReader().read(file))
    assert metadata(next(stream))["line"] == 1
    with pytest.raises(InputError, match="pairs.jsonl:2: "):
        next(stream)


def test_without_labels_for_predictions(tmp_path: Path) -> None:
    unlabelled = {key: PAIR[key] for key in ("sentence1", "sentence2")}
    (instance, other) = SnliReader().read(
        write(tmp_path / "pairs.jsonl", unlabelled, {**unlabelled, "gold_label": None})
    )
    assert "label" not in instance.fields and "label" not in other.fields
    assert metadata(instance)["label"] is None
    with pytest.raises(InputError, match="pairs.jsonl:2: 'gold_label' is missing, unlike .*label all pairs, or none"):
        list(SnliReader().read(write(tmp_path / "pairs.jsonl", PAIR, unlabelled)))
    with pytest.raises(InputError, match="pairs.jsonl:2: 'gold_label' is here, unlike"):
        list(SnliReader().read(write(tmp_path / "pairs.jsonl", unlabelled, PAIR)))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{'single': 'quotes'}", ":2: an object with .* was wanted, this is not JSON: Expecting property name"),
        ("1" * 5000, ":2: an object with .* was wanted, this is not JSON: Exceeds the limit"),
        ("[" * 10_000, ":2: an object with .* was wanted, this is not JSON: maximum recursion depth"),
        ("[" * 100_000, ":2: an object with .* was wanted, this is not JSON: more than a tenth of it are brackets"),
        (["a", "b"], r":2: an object with 'sentence1' and 'sentence2' was wanted, found \['a', 'b'\]"),
        (
            {**PAIR, "gold_label": "maybe"},
            ":2: 'gold_label' must be one of entailment, neutral, contradiction, -; found 'ma",
        ),
        ({**PAIR, "gold_label": 1}, ":2: 'gold_label' must be one of .*; found 1"),
        (
            {"gold_label": "neutral", "sentence1": "x"},
            r":2: 'sentence2' is missing; found \['gold_label', 'sentence1'\]$",
        ),
        (
            {"gold_label": "neutral", "a\nb": 1, "c" * 5000: 2},
            r":2: 'sentence1' is missing; found \['a\\nb', 'c{50}\.\.\.$",
        ),
        ({**PAIR, "sentence1": ["A", "dog"]}, r":2: 'sentence1' must be a string; found \['A', 'dog'\]"),
        ({**PAIR, "sentence2": None}, ":2: 'sentence2' must be a string; found None"),
        ({**PAIR, "sentence2": " \t"}, ":2: 'sentence2' is empty: it needs a word at least"),
        ({**PAIR, "sentence2": "a \ud800"}, ":2: 'sentence2' holds one half of a character alone"),
    ],
)
def test_bad_lines(tmp_path: Path, record: Any, message: str) -> None:
    file = write(tmp_path / "pairs.jsonl", PAIR, record, PAIR)
    with pytest.raises(InputError, match=f"pairs.jsonl{message}"):
        list(SnliReader().read(file))


def test_a_blank_sentence_of_a_dropped_pair_is_no_fault(tmp_path: Path) -> None:
    file = write(tmp_path / "pairs.jsonl", PAIR, {"gold_label": "-", "sentence1": "", "sentence2": ""})
    assert len(list(SnliReader().read(file))) == 1


def test_parses_that_are_not_there(tmp_path: Path) -> None:
    file = write(tmp_path / "pairs.jsonl", PAIR)
    with pytest.raises(InputError, match=":1: 'sentence1_binary_parse' is missing; .* needs no parses"):
        list(SnliReader(tokenization="parse").read(file))


def test_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pairs.jsonl: no pair found"):
        list(SnliReader().read(write(tmp_path / "pairs.jsonl")))


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="tokenization must be one of sentence, parse; it is 'words'"):
        SnliReader(tokenization="words")
    with pytest.raises(InputError, match="a.jsonl:9: the premise needs a word at least"):
        SnliReader().text_to_instance([], ["x"], file="a.jsonl", line=9)


def test_missing_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_TASKS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="ELMO_TASKS_DATA is .* at snli/snli_1.0_dev.jsonl; SNLI 1.0 is at"):
        list(SnliReader().read(tmp_path / "snli" / "snli_1.0_dev.jsonl"))


def test_workers_share_the_pairs() -> None:
    seen = []
    for worker in range(2):
        reader = SnliReader()
        reader._set_worker_info(WorkerInfo(num_workers=2, id=worker))
        seen.append([metadata(i)["line"] for i in reader.read(FIXTURE)])
    assert seen == [[1, 4], [3]]


def test_lazy_loading_in_worker_processes() -> None:
    vocabulary = Vocabulary.from_instances(SnliReader().read(FIXTURE))
    loader = MultiProcessDataLoader(
        SnliReader(), str(FIXTURE), batch_size=1, num_workers=2, max_instances_in_memory=2, quiet=True
    )
    loader.index_with(vocabulary)
    batches = list(loader)
    assert sorted(batch["metadata"][0]["line"] for batch in batches) == [1, 3, 4]
    assert all("elmo" in batch[name] for batch in batches for name in ("premise", "hypothesis"))


@pytest.mark.parametrize(("name", "pairs"), [("train", 13100), ("dev", 9842)])
def test_real_corpus(name: str, pairs: int) -> None:
    file = REAL_DATA / "snli" / f"snli_1.0_{name}.jsonl"
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    labels = Counter(metadata(one)["label"] for one in SnliReader().read(file))
    assert labels.total() == pairs
    assert min(labels.values()) > 0.3 * pairs
