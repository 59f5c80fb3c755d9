"""The NER reader: exact fields, schemes, workers, counts, and real corpora if at hand."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.dataset_readers.dataset_reader import WorkerInfo

from elmo_tasks.data.spans import spans_from_tags
from elmo_tasks.errors import InputError
from elmo_tasks.ner.reader import NerReader
from tests import tiny
from tests.tiny import REAL_DATA

FIXTURES = tiny.FIXTURES / "ner"

WORDS = [
    ["Mira", "Oakes", "left", "Harrow", "for", "Lantern", "Bay", "Ferries", "."],
    ["Reporters", "asked", "Tobin", "Mira", "Oakes", "twice", "."],
    ["Harrow", "Rowing", "Club", "won", "the", "Saltmarsh", "Cup"],
]
TAGS = [
    ["B-PER", "L-PER", "O", "U-LOC", "O", "B-ORG", "I-ORG", "L-ORG", "O"],
    ["O", "O", "U-PER", "B-PER", "L-PER", "O", "O"],
    ["U-LOC", "B-ORG", "L-ORG", "O", "O", "B-MISC", "L-MISC"],
]

pytestmark = pytest.mark.usefixtures("heard_counts")


def metadata(instance: Instance) -> dict[str, Any]:
    return instance["metadata"].metadata


@pytest.mark.parametrize("scheme", ["iob1", "bio", "bioul"])
def test_fields_are_the_same_from_each_scheme(scheme: str, caplog: pytest.LogCaptureFixture) -> None:
    file = FIXTURES / f"eng.{scheme}"
    instances = list(NerReader().read(file))
    assert [[t.text for t in i["tokens"]] for i in instances] == WORDS
    assert [i["tags"].labels for i in instances] == TAGS
    assert [metadata(i) for i in instances] == [
        {"words": words, "tags": tags, "file": str(file), "line": line}
        for words, tags, line in zip(WORDS, TAGS, (3, 13, 23), strict=True)
    ]
    counts = f"3 sentences, 23 tokens, {scheme.upper()}, 8 entities (LOC 2, MISC 1, ORG 2, PER 3)"
    assert counts in caplog.text


def test_default_indexers_and_tensors() -> None:
    reader = NerReader()
    (instance,) = [i for i in reader.read(FIXTURES / "eng.bio") if metadata(i)["line"] == 13]
    vocabulary = Vocabulary.from_instances([instance])
    instance.index_fields(vocabulary)
    tensors = instance.as_tensor_dict()
    tokens = tensors["tokens"]
    assert set(tokens) == {"tokens", "token_characters", "elmo"}
    shapes = {key: tuple(value.shape) for of_one in tokens.values() for key, value in of_one.items()}
    assert sorted(shapes.values()) == [(7,), (7, 11), (7, 50)]
    assert tensors["tags"].shape == (7,)
    assert vocabulary.get_vocab_size("labels") == 4


def test_the_shortest_word_has_three_characters_with_its_marks() -> None:
    instance = NerReader().text_to_instance(["a", "."])
    assert "tags" not in instance.fields
    assert metadata(instance)["tags"] is None
    NerReader().apply_token_indexers(instance)
    instance.index_fields(Vocabulary.from_instances([instance]))
    tokens: Any = instance.as_tensor_dict()["tokens"]
    assert tokens["token_characters"]["token_characters"].shape == (2, 3)


def test_built_from_its_registered_name() -> None:
    indexers = {"w": {"type": "single_id"}}
    parameters = {"type": "elmo_tasks_ner", "token_indexers": indexers, "max_instances": 2}
    reader = DatasetReader.from_params(Params(parameters))
    instances = list(reader.read(FIXTURES / "eng.bio"))
    assert len(instances) == 2
    assert set(instances[0]["tokens"].token_indexers) == {"w"}


def test_scheme_comes_from_the_whole_file_not_from_the_first_instances(tmp_path: Path) -> None:
    path = tmp_path / "eng.train"
    path.write_text("Mira B-PER\n\nOakes I-PER\n")
    with pytest.raises(InputError, match="eng.train:3: expected tags of one scheme"):
        list(NerReader(max_instances=1).read(path))


def test_chunk_column() -> None:
    instances = list(NerReader(tag_label="chunk").read(FIXTURES / "eng.iob1"))
    assert len(instances) == 3
    assert instances[1]["tags"].labels == [*("U-NP", "U-VP", "U-NP", "B-NP", "L-NP", "U-ADVP", "O")]


def test_chunk_column_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "eng.train"
    path.write_text("Mira B-PER\n")
    with pytest.raises(InputError, match="eng.train:1: expected at least 3 columns, got 2"):
        list(NerReader(tag_label="chunk").read(path))


def test_workers_share_the_sentences() -> None:
    seen = []
    for worker in range(2):
        reader = NerReader()
        reader._set_worker_info(WorkerInfo(num_workers=2, id=worker))
        seen.append([metadata(i)["line"] for i in reader.read(FIXTURES / "eng.bio")])
    assert seen == [[3, 23], [13]]


def test_lazy_loading_in_worker_processes() -> None:
    reader = NerReader()
    vocabulary = Vocabulary.from_instances(NerReader().read(FIXTURES / "eng.bio"))
    loader = MultiProcessDataLoader(
        reader,
        str(FIXTURES / "eng.bio"),
        batch_size=1,
        num_workers=2,
        max_instances_in_memory=2,
        quiet=True,
    )
    loader.index_with(vocabulary)
    batches = list(loader)
    assert sorted(batch["metadata"][0]["line"] for batch in batches) == [3, 13, 23]
    assert all("elmo" in batch["tokens"] for batch in batches)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected token lines"),
        ("Mira\n", ":1: expected at least 2 columns, got 1"),
        ("Mira B-PER\n\nOakes Z-PER\n", ":3: expected a tag such as .* got 'Z-PER'"),
        ("Mira B-PER\nOakes PER\n", ":2: expected a tag such as .* got 'PER'"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "eng.train"
    path.write_text(content)
    with pytest.raises(InputError, match=f"eng.train(: )?{message}"):
        list(NerReader().read(path))


def test_missing_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_TASKS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="ELMO_TASKS_DATA is .* at ner/eng.train; CoNLL-2003 has"):
        list(NerReader().read(tmp_path / "ner" / "eng.train"))


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="tag_label must be one of ner, chunk; it is 'pos'"):
        NerReader(tag_label="pos")
    with pytest.raises(InputError, match="a sentence needs a token at least"):
        NerReader().text_to_instance([])
    with pytest.raises(InputError, match="eng.train:9: 1 tags for 2 tokens"):
        NerReader().text_to_instance(["red", "kite"], ["O"], file="eng.train", line=9)


@pytest.mark.parametrize(
    ("file", "sentences", "tokens", "scheme", "entities"),
    [
        ("ner/eng.train", 3394, 62730, "BIO", 1975),
        ("ner/eng.testa", 1009, 15733, "BIO", 836),
        ("ner_wikigold/eng.train", 1300, 30603, "IOB1", 2693),
        ("ner_wikigold/eng.testa", 200, 4592, "IOB1", 471),
    ],
)
def test_real_corpora(
    file: str,
    sentences: int,
    tokens: int,
    scheme: str,
    entities: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if not (REAL_DATA / file).is_file():
        pytest.skip(f"{REAL_DATA / file} is absent")
    seen = [metadata(i) for i in NerReader().read(REAL_DATA / file)]
    assert len(seen) == sentences
    assert sum(len(of_one["words"]) for of_one in seen) == tokens
    assert sum(len(spans_from_tags(of_one["tags"])) for of_one in seen) == entities
    assert f"{sentences} sentences, {tokens} tokens, {scheme}, {entities} entities" in caplog.text
