"""The SRL reader: exact fields, choice of predicates and overlapping spans."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance, Vocabulary

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.spans import Span
from elmo_tasks.tasks.srl.reader import PREDICATES, SrlReader, bio_tags
from tests.models import Build, metadata
from tests.srl.samples import TALE, corpus


def labels(one: Instance) -> str:
    return " ".join(one["tags"].labels)


def test_one_instance_per_verb_with_bio_tags() -> None:
    keep, sell, give, said, lose = SrlReader().read(TALE)
    assert labels(keep) == "B-ARG0 O B-R-ARG0 B-V B-ARG1 O O O O O O O O"
    assert (
        labels(sell)
        == "B-ARG0 I-ARG0 I-ARG0 I-ARG0 I-ARG0 I-ARG0 B-V B-ARG2 I-ARG2 I-ARG2 B-ARG1 I-ARG1 O"
    )
    assert labels(give) == "B-V I-V B-ARG1 I-ARG1 O O O O O O O O O"
    assert (
        labels(said)
        == "B-ARG1 I-ARG1 I-ARG1 I-ARG1 O B-ARG0 B-V O B-C-ARG1 I-C-ARG1 I-C-ARG1 I-C-ARG1 O"
    )
    assert [metadata(one)["predicate"] for one in (keep, sell, give, said, lose)] == [
        3,
        6,
        0,
        6,
        9,
    ]


def test_the_lemma_of_a_predicate_that_has_none() -> None:
    made = SrlReader().text_to_instance(["Sailed", "she", "?"], 0)
    assert metadata(made)["lemma"] == "sailed"


def test_all_predicates() -> None:
    read = list(SrlReader(verbs_only=False).read(TALE))
    assert [metadata(one)["lemma"] for one in read] == [
        "keep",
        "sell",
        "give",
        "plan",
        "say",
        "lose",
    ]
    assert labels(read[3]) == "O O B-ARG0 B-V O O O O O O O O O"


def test_only_the_predicate_is_marked() -> None:
    step = corpus()[5]
    assert (
        labels(step)
        == "B-ARG0 I-ARG0 O B-V O B-C-V B-ARG1 I-ARG1 B-ARGM-TMP I-ARGM-TMP O"
    )
    vocabulary = Vocabulary.from_instances([step])
    step.index_fields(vocabulary)
    tensors = step.as_tensor_dict()
    tokens: Any = tensors["tokens"]
    assert tokens["predicate"]["tokens"].tolist() == [1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1]
    assert tokens["tokens"]["tokens"].shape == (11,) and tokens["elmo"][
        "elmo_tokens"
    ].shape == (11, 50)
    assert set(vocabulary.get_token_to_index_vocabulary(PREDICATES)) >= {"stepping"}
    assert "side" not in vocabulary.get_token_to_index_vocabulary(PREDICATES)


def test_of_overlapping_spans_the_first_is_kept() -> None:
    spans = [
        Span(0, 3, "ARG1"),
        Span(1, 2, "ARG0"),
        Span(3, 4, "V"),
        Span(3, 5, "ARG2"),
    ]
    assert bio_tags(spans, length=5) == ["B-ARG1", "I-ARG1", "I-ARG1", "B-V", "O"]


@pytest.mark.parametrize(
    ("cells", "tags", "lost"),
    [
        ("(ARG0* (V*) *)", "O B-V O", 1),
        ("(ARG0(V*)) * *", "B-V O O", 1),
        ("(ARG1(ARG0* (V* *)))", "O B-V I-V", 2),
        ("(V*) (C-V*) (ARG1*)", "B-V B-C-V B-ARG1", 0),
        ("(ARG1* (C-V*) (V*))", "O B-C-V B-V", 1),
        ("(V*) (ARG1(ARG2* *) *)", "B-V B-ARG1 I-ARG1 I-ARG1", 1),
    ],
)
def test_an_argument_over_the_predicate_or_another_one(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    cells: str,
    tags: str,
    lost: int,
) -> None:
    path = tmp_path / "a.gold_conll"
    column = cells.split()
    verbs = [number for number, cell in enumerate(column) if "(V*" in cell]
    rows = []
    for number, cell in enumerate(column):
        frame = "- -"
        if number == verbs[0]:
            frame = "keep 01"
        rows.append(f"doc 0 {number} word VB * {frame} - - * {cell} -")
    path.write_text("\n".join(rows) + "\n")
    (read,) = SrlReader().read(path)
    assert labels(read) == tags
    assert caplog.messages[1:] == [
        f"{path}: {lost} arguments overlap others and are left out"
    ] * bool(lost)


ROW = "doc 0 0 plan NN * {lemma} {frameset} - - * {argument} -\n"


def test_files_without_predicates(tmp_path: Path) -> None:
    path = tmp_path / "a.gold_conll"
    path.write_text(ROW.format(lemma="plan", frameset="01", argument="(V*)"))
    with pytest.raises(
        InputError,
        match="a.gold_conll: expected predicates, got none whose part of speech",
    ):
        list(SrlReader().read(path))
    assert len(list(SrlReader(verbs_only=False).read(path))) == 1


def test_skipped_sentences_are_counted_in_the_metrics(
    build: Build, tmp_path: Path
) -> None:
    model = build(given=corpus())
    for skipped in (0, 2):
        path = tmp_path / f"{skipped}.gold_conll"
        wrong = ROW.format(lemma="plan", frameset="01", argument="(V*))")
        right = ROW.format(lemma="plan", frameset="01", argument="(V*)")
        text = "\n".join([wrong] * skipped + [right, right])
        path.write_text(text.replace("NN", "VB"))
        model.forward_on_instances(list(SrlReader().read(path)))
        assert model.get_metrics(reset=True)["sentences_skipped"] == skipped
