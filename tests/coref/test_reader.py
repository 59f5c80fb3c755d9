"""The coreference reader: exact clusters, genres, speakers and invalid files."""

import logging
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.formats.annotation.ontonotes import read_documents
from elmo_tasks.tasks.coref.reader import CorefReader, document_clusters, genre_of
from tests.coref import scorer
from tests.coref.samples import column, random_clusters
from tests.models import metadata
from tests.tiny import FIXTURES

STORIES = FIXTURES / "coref" / "stories.gold_conll"

CLUSTERS = [
    [[(0, 2), (0, 2), (3, 4), (20, 21)], [(3, 5), (11, 12)], [(14, 18), (22, 23)]],
    [],
    [[(0, 2), (4, 5)]],
]


def test_documents_parts_and_clusters() -> None:
    known = [metadata(instance) for instance in CorefReader().read(STORIES)]
    names = [(one["key"], one["part"], one["line"]) for one in known]
    assert names == [
        ("bc/pier/00/pier_0001", 0, 2),
        ("bc/pier/00/pier_0001", 1, 33),
        ("GUM_fiction_gull", 0, 39),
    ]
    assert [one["clusters"] for one in known] == CLUSTERS


def test_singletons_nested_and_crossing_mentions_are_read() -> None:
    everything = document_clusters(next(read_documents(STORIES)))
    singletons = [[(6, 10)], [(9, 10)], [(13, 16)]]
    assert everything == sorted(CLUSTERS[0] + singletons)


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 10**6))
def test_clusters_are_those_of_the_official_scorer(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """
    Whatever their order, also repeated, in two clusters, and across the ends of
    sentences.
    """
    generator = Random(seed)
    length = generator.randint(1, 12)
    brackets = column(random_clusters(generator, length=length), length=length)
    lines = ["#begin document (story); part 000"]
    empty = "*\t" * 7
    for cell in brackets:
        lines.append(f"story\t0\t0\tword\t{empty}{cell}")
        lines += [""] * generator.randint(0, 1)
    lines += ["#end document", ""]
    file = tmp_path_factory.mktemp("stories") / "story.gold_conll"
    file.write_text("\n".join(lines))
    (document,) = read_documents(file)
    expected = []
    for entity in scorer.read_entities(brackets):
        expected.append(sorted((start, end + 1) for start, end in entity))
    assert document_clusters(document) == expected


def test_files_without_annotation_are_read_for_predictions(tmp_path: Path) -> None:
    text = STORIES.read_text()
    bare = ""
    for line in text.splitlines():
        row = line.split()
        if len(row) > 11:
            row[-1] = "-"
        bare += " ".join(row) + "\n"
    (tmp_path / "bare.gold_conll").write_text(bare)
    assert clusters_in(tmp_path) == [None] * 3
    (tmp_path / "bare.gold_conll").write_text(bare.replace("-\n", "(7)\n", 1))
    assert clusters_in(tmp_path) == [None] * 3  # one singleton
    (tmp_path / "stories.gold_conll").write_text(text.replace("pier_0001", "pier_0002"))
    assert clusters_in(tmp_path) == [[], [], []] + CLUSTERS


def clusters_in(folder: Path) -> list[Any]:
    return [metadata(one)["clusters"] for one in CorefReader().read(folder)]


def test_words_speakers_and_genre() -> None:
    first, _, last = CorefReader().read(STORIES)
    texts = []
    for sentence in first["text"]:
        texts.append(" ".join(token.text for token in sentence))
    assert texts[1] == "He knew the old pilot 's boat well ."
    assert texts[2] == "She liked it , too ."
    assert metadata(first)["sentences"][0][-1] == "."
    assert first["speakers"].tensor.tolist() == [0] * 11 + [1] * 9 + [0] * 6
    assert [first["genre"].label, last["genre"].label] == ["bc", "fiction"]


@pytest.mark.parametrize(
    ("key", "genre"),
    [
        ("bc/cctv/00/cctv_0000", "bc"),
        ("tale/dev_0000", "tale"),
        ("GUM_academic_exposure", "academic"),
        ("GUM_vlog", "vlog"),
        ("GUM_vlogs_a", ""),
        ("GUM", ""),
        ("bc", ""),
        ("bc_cctv_0000", ""),
        ("nw_x/wsj_1", ""),
        ("train_0007", ""),
        ("train_news_0007", ""),
        ("corpus/bc/0007", ""),
        ("weblog/a_b.xml", ""),
    ],
)
def test_genres(key: str, genre: str) -> None:
    assert genre_of(key) == genre


def test_documents_without_a_genre_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    list(CorefReader().read(STORIES))
    assert caplog.messages == []
    file = tmp_path / "a.gold_conll"
    file.write_text(STORIES.read_text().replace("bc/pier/00/pier", "train"))
    first, _, last = CorefReader().read(file)
    assert [first["genre"].label, last["genre"].label] == ["", "fiction"]
    (message,) = caplog.messages
    assert message.startswith(f"{file}: the keys of 2 of 3 documents, such as (train_")


def test_document_with_invalid_brackets_is_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "bad.gold_conll"
    path.write_text(STORIES.read_text().replace("\t(0|(0\n", "\t(0|0\n", 1))
    with caplog.at_level(logging.WARNING):
        left = list(CorefReader().read(path))
    assert len(left) == len(list(CorefReader().read(STORIES))) - 1
    assert (
        f"{path}:2" in caplog.text
        and "1 documents with invalid annotation skipped" in caplog.text
    )
