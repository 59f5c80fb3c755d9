"""Clusters, key and response files, and the learning rate schedule."""

from pathlib import Path

import pytest
import torch
from allennlp.common import Params
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.evaluation import Evaluator

from elmo_tasks.errors import InputError
from elmo_tasks.formats.brackets import Cluster
from elmo_tasks.formats.ontonotes import read_documents
from elmo_tasks.tasks.coref.evaluator import CorefEvaluator, response_lines
from elmo_tasks.tasks.coref.reader import CorefReader, document_clusters
from elmo_tasks.training.optimization import Staircase
from tests.models import Build
from tests.tiny import SAMPLES

STORIES = SAMPLES["coref"]

PIER = ("bc/pier/00/pier_0001", 0)
NAMES = [PIER, ("bc/pier/00/pier_0001", 1), ("GUM_fiction_gull", 0)]


def test_writes_key_and_response(build: Build, tmp_path: Path) -> None:
    model = build()
    text = STORIES.read_text()
    for name in ("a", "b"):
        (tmp_path / f"{name}.gold_conll").write_text(text)
    instances = list(CorefReader().read(tmp_path))
    loader = SimpleDataLoader(list(instances), batch_size=1, shuffle=True, vocab=model.vocab)
    loader.set_target_device(next(model.parameters()).device)
    evaluator = Evaluator.from_params(Params({"type": "elmo_tasks_coref", "cuda_device": -1}))
    response = tmp_path / "out" / "response"
    scores = evaluator(model, loader, predictions_output_file=str(response))
    assert "f1" in scores and (tmp_path / "out" / "response.key").read_text() == text * 2
    written = response.read_text().splitlines()
    assert [line.split("\t")[:-1] for line in written] == [line.split("\t")[:-1] for line in (text * 2).splitlines()]
    assert written[: len(written) // 2] == written[len(written) // 2 :]
    (tmp_path / "half").write_text("".join(f"{line}\n" for line in written[: len(written) // 2]))
    clusters = [document_clusters(document) for document in read_documents(tmp_path / "half")]
    assert clusters == [one["clusters"] for one in model.forward_on_instances(instances[:3])] and any(clusters)


def test_response_lines_keep_all_but_the_last_column(tmp_path: Path) -> None:
    spaced = tmp_path / "spaced.v4_gold_conll"
    spaced.write_text(STORIES.read_text().replace("\t", "   "))
    predicted: list[Cluster] = [[(0, 2), (3, 4)], [(12, 13), (15, 17)]]
    lines = list(response_lines(spaced, {PIER: predicted, NAMES[1]: [], NAMES[2]: []}))
    key = spaced.read_text().splitlines()
    assert [line.split("   ")[:-1] for line in lines] == [line.split("   ")[:-1] for line in key]
    assert lines[1] == "bc/pier/00/pier_0001   0   0   Mira   NNP   *   -   -   -   Anna   *   (0"


@pytest.mark.parametrize(
    ("clusters", "message"),
    [([], r":33: there is no prediction .*part 001"), ([[(0, 1), (25, 99)]], ":2: .* 26 words, got 25 to 99")],
)
def test_predictions_that_do_not_fit(clusters: list[Cluster], message: str) -> None:
    with pytest.raises(InputError, match=f"gold_conll{message}"):
        list(response_lines(STORIES, {PIER: clusters}))


def test_documents_with_invalid_brackets_are_left_out(tmp_path: Path) -> None:
    first, rest = STORIES.read_text().split("#end document\n", 1)
    (file := tmp_path / "a.gold_conll").write_text(first.replace("(0", "(", 1) + "#end document\n" + rest)
    CorefEvaluator().write(tmp_path / "response", iter((str(file), *name, list[Cluster]()) for name in NAMES[1:]))
    assert (tmp_path / "response.key").read_text() == rest
    assert len((tmp_path / "response").read_text().splitlines()) == len(rest.splitlines())


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
    for bad in ({"factor": 1.5, "every": 3}, {"factor": 0.5, "every": 0}):
        with pytest.raises(InputError, match="factor|every"):
            Staircase(first.optimizer, **bad)
