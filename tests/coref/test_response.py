"""Clusters, and the response file, which reads back as the clusters it was written from."""

import json
import random
from pathlib import Path

import pytest

from elmo_tasks.coref.clusters import clusters_by_label, clusters_from_antecedents, without_singletons
from elmo_tasks.coref.reader import document_clusters
from elmo_tasks.coref.response import read_predictions, write_response
from elmo_tasks.data.brackets import mentions_from_brackets
from elmo_tasks.data.mentions import Cluster, cluster_cells
from elmo_tasks.data.ontonotes import read_documents
from elmo_tasks.errors import InputError

KEY = Path(__file__).resolve().parents[2] / "fixtures" / "coref" / "stories.gold_conll"
PIER = ("bc/pier/00/pier_0001", 0)
NAMES = [PIER, ("bc/pier/00/pier_0001", 1), ("GUM_fiction_gull", 0)]


def test_clusters_by_label() -> None:
    mentions = [((4, 5), "9"), ((0, 2), "x"), ((0, 1), "9"), ((4, 5), "9"), ((0, 1), "x")]
    found = clusters_by_label(mentions)
    assert found == [[(0, 1), (0, 2)], [(0, 1), (4, 5)]]
    assert without_singletons([*found, [(7, 8)]]) == found


def test_clusters_follow_the_antecedents() -> None:
    mentions = [(0, 1), (1, 2), (2, 4), (3, 4), (5, 6), (7, 8)]
    assert clusters_from_antecedents(mentions, [-1, -1, 0, 1, 2, -1]) == [
        [(0, 1), (2, 4), (5, 6)],
        [(1, 2), (3, 4)],
    ]
    assert clusters_from_antecedents([], []) == []


def test_cells_by_hand() -> None:
    clusters: list[Cluster] = [[(0, 3), (0, 1), (4, 5)], [(0, 2), (1, 4)]]
    assert cluster_cells([[(0, 1), (0, 1), (2, 3)]], length=3) == ["(0)", "-", "(0)"]
    assert cluster_cells(clusters, length=6) == ["(0|(1|(0)", "(1|1)", "0)", "1)", "(0)", "-"]
    with pytest.raises(ValueError, match="no words 2 to 9 in a document of 4"):
        cluster_cells([[(0, 1), (2, 9)]], length=4)


def test_cells_read_back() -> None:
    generator = random.Random(4)
    for _ in range(100):
        spans = {(a, b) for a, b in (sorted(generator.sample(range(13), 2)) for _ in range(6))}
        clusters = clusters_by_label((span, str(generator.randrange(3))) for span in sorted(spans))
        if any(crosses(cluster) for cluster in clusters):
            continue
        read = mentions_from_brackets(cluster_cells(clusters, length=12))
        assert clusters_by_label(((span.start, span.end), span.label) for span in read) == clusters


def crosses(cluster: Cluster) -> bool:
    return any(a < c < b < d or (b == c + 1 and a < c) for a, b in cluster for c, d in cluster)


def test_the_response_differs_from_the_key_in_the_last_column_alone(tmp_path: Path) -> None:
    predicted: list[Cluster] = [[(0, 2), (3, 4)], [(12, 13), (15, 17)]]
    write_response(KEY, {PIER: predicted, NAMES[1]: [], NAMES[2]: [[(0, 2), (4, 5)]]}, tmp_path / "response")
    key, response = KEY.read_text().split("\n"), (tmp_path / "response").read_text().split("\n")
    assert len(key) == len(response)
    assert [line.split("\t")[:-1] for line in key] == [line.split("\t")[:-1] for line in response]
    assert response[1].endswith("\t(0") and response[4].endswith("\t(0)") and response[5].endswith("\t-")
    documents = list(read_documents(tmp_path / "response"))
    assert [without_singletons(document_clusters(document)) for document in documents] == [
        predicted,
        [],
        [[(0, 2), (4, 5)]],
    ]


def test_the_key_written_from_its_own_clusters_is_the_key(tmp_path: Path) -> None:
    gold = {(document.key, document.part): document_clusters(document) for document in read_documents(KEY)}
    write_response(KEY, gold, tmp_path / "response")
    again = {(d.key, d.part): document_clusters(d) for d in read_documents(tmp_path / "response")}
    assert again == gold and list(gold) == NAMES


def test_blanks_between_columns_are_kept(tmp_path: Path) -> None:
    spaced = tmp_path / "spaced.v4_gold_conll"
    spaced.write_text(KEY.read_text().replace("\t", "   "))
    write_response(spaced, {name: [] for name in NAMES}, tmp_path / "response")
    first = (tmp_path / "response").read_text().splitlines()[1]
    assert first == "bc/pier/00/pier_0001   0   0   Mira   NNP   *   -   -   -   Anna   *   -"


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ({PIER: []}, r"stories.gold_conll:33: there is no prediction for the document \(bc/pier.*\); part 001"),
        ({PIER: [[(0, 1), (25, 99)]]}, r"conll:2: the prediction for the document \(bc/.* does not fit: no words 25"),
    ],
)
def test_what_does_not_fit_leaves_the_old_file(
    predictions: dict[tuple[str, int], list[Cluster]], message: str, tmp_path: Path
) -> None:
    (tmp_path / "response").write_text("old")
    with pytest.raises(InputError, match=message):
        write_response(KEY, predictions, tmp_path / "response")
    assert (tmp_path / "response").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_predictions_of_the_predictor_are_read(tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    mentions = [{"text": "a", "token_start": 0, "token_end": 1}, {"text": "b", "token_start": 4, "token_end": 6}]
    file.write_text(json.dumps({"key": "nw/a", "part": 2, "sentences": [], "clusters": [mentions]}) + "\n")
    assert read_predictions(file) == {("nw/a", 2): [[(0, 1), (4, 6)]]}
    file.write_text(file.read_text() + '{"clusters": []}\n')
    with pytest.raises(InputError, match="predictions.jsonl:2: an object with key, part and clusters"):
        read_predictions(file)


@pytest.mark.parametrize("end", ['"x"', "0.5", "null", "[1]"])
def test_a_mention_that_is_none(end: str, tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    file.write_text('{"key": "k", "part": 0, "clusters": [[{"token_start": 0, "token_end": END}]]}'.replace("END", end))
    with pytest.raises(InputError, match="predictions.jsonl:1: an object with key, part and clusters"):
        read_predictions(file)


def test_a_document_predicted_twice(tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    file.write_text('{"key": "k", "part": 3, "clusters": []}\n' * 2)
    with pytest.raises(InputError, match=r"jsonl:2: the document \(k\); part 003 comes twice"):
        read_predictions(file)
