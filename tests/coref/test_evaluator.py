"""Clusters, key and response files, and the learning rate schedule."""

import re
from pathlib import Path

import pytest
import torch
from allennlp.common import Params
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.evaluation import Evaluator

from elmo_tasks.formats.annotation.brackets import Cluster
from elmo_tasks.formats.annotation.ontonotes import read_documents
from elmo_tasks.tasks.coref.metric import METRICS
from elmo_tasks.tasks.coref.model import CorefModel
from elmo_tasks.tasks.coref.reader import CorefReader, document_clusters
from elmo_tasks.training.optimization import Staircase
from tests.coref import scorer
from tests.models import Build
from tests.tiny import SAMPLES

STORIES = SAMPLES["coref"]


def test_writes_key_and_response(build: Build, tmp_path: Path) -> None:
    model = build()
    response = tmp_path / "out" / "response"
    for name in ("a", "b"):
        (tmp_path / f"{name}.gold_conll").write_text(STORIES.read_text())
    instances = list(CorefReader().read(tmp_path))
    assert "f1" in evaluated(model, tmp_path, response)
    key = read_back(response.with_name("response.key"))
    assert key == [one["metadata"].metadata["clusters"] for one in instances]
    outputs = model.forward_on_instances(instances)
    assert read_back(response) == [one["clusters"] for one in outputs]
    assert any(read_back(response))
    words = words_of(STORIES.read_text().replace("/.", "."))
    assert (
        words_of(response.read_text())
        == words_of(response.with_name("response.key").read_text())
        == words * 2
    )
    # By this line the scorer tells documents apart.
    assert len(set(re.findall("#begin document.*", response.read_text()))) == 6


def evaluated(model: CorefModel, file: Path, response: Path) -> dict[str, float]:
    """The metrics of an evaluation, which writes the response and the key."""
    loader = SimpleDataLoader(
        list(CorefReader().read(file)), 2, shuffle=True, vocab=model.vocab
    )
    loader.set_target_device(next(model.parameters()).device)
    evaluator = Evaluator.from_params(
        Params({"type": "elmo_tasks_coref", "cuda_device": -1})
    )
    return evaluator(model, loader, predictions_output_file=str(response))


def test_documents_that_are_left_out_are_counted(build: Build, tmp_path: Path) -> None:
    model, file = build(), tmp_path / "stories.gold_conll"
    text = STORIES.read_text()
    file.write_text(text)
    assert evaluated(model, file, tmp_path / "all")["documents_skipped"] == 0
    file.write_text(text.replace("\t(0|(0\n", "\t(0|0\n", 1))  # invalid brackets
    for _ in range(2):  # each evaluation counts for itself
        assert evaluated(model, file, tmp_path / "some")["documents_skipped"] == 1


def test_mentions_across_the_end_of_a_sentence_count(
    build: Build, tmp_path: Path
) -> None:
    """Scores and files are the official scorer's."""
    file, response = tmp_path / "stories.gold_conll", tmp_path / "response"
    text = STORIES.read_text().replace("\t(3)|2)\n", "\t(3)\n", 1)
    file.write_text(
        text.replace(
            "He\tPRP\t*\t-\t-\t-\tTobin\t*\t(1)",
            "He\tPRP\t*\t-\t-\t-\tTobin\t*\t(1)|2)|(2)",
        )
    )
    scores = evaluated(build(), file, response)
    assert scores["documents_skipped"] == 0
    key = response.with_name("response.key")
    assert [(6, 12), (11, 12)] in document_clusters(next(read_documents(key)))
    counts = list(map(scorer.score, cells_of(response), cells_of(key)))
    assert len(counts) == 3
    for place, name in enumerate(METRICS):
        for part, kind in enumerate(("recall", "precision")):
            right = 0.0
            whole = 0.0
            for count in counts:
                right += count[place][part].part
                whole += count[place][part].whole
            expected = right / max(1.0, whole)
            assert scores[f"{name}_{kind}"] == pytest.approx(expected)


def cells_of(file: Path) -> list[list[str]]:
    """The last column of each document."""
    found = []
    for document in read_documents(file):
        cells: list[str] = []
        for sentence in document.sentences:
            cells.extend(sentence.columns[-1])
        found.append(cells)
    return found


def words_of(text: str) -> list[list[str]]:
    """Document, part, number and word of each line."""
    words = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            words.append(line.split("\t")[:4])
    return words


def read_back(file: Path) -> list[list[Cluster]]:
    """
    The clusters of each document of two files with the same documents, one after the
    other.
    """
    begin = "#begin document"
    documents = file.read_text().split(begin)[1:]
    half = file.with_name("half")
    found = []
    for part in (documents[:3], documents[3:]):
        half.write_text(begin + begin.join(part))
        found += list(map(document_clusters, read_documents(half)))
    return found


def test_the_learning_rate_falls_in_steps() -> None:
    def schedule() -> Staircase:
        optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=0.8)
        return Staircase(optimizer, factor=0.5, every=3)

    first, second, rates = schedule(), schedule(), []
    for update in range(1, 8):
        first.step_batch(update)
        first.step(0.3)  # the end of an epoch has no effect
        rates.append(first.optimizer.param_groups[0]["lr"])
    assert rates == [0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.2]
    second.load_state_dict(first.state_dict())
    assert second.get_values() == [0.2]
