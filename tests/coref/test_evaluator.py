"""Key and response of a whole data set, of several files and in any order of its documents."""

from pathlib import Path

from allennlp.common import Params
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.evaluation import Evaluator

from elmo_tasks.coref.reader import CorefReader, document_clusters
from elmo_tasks.data.ontonotes import read_documents
from tests.coref.test_model import STORIES, Build, build

__all__ = ["build"]


def test_writes_both_files(build: Build, tmp_path: Path) -> None:
    model = build()
    text = STORIES.read_text()
    second = tmp_path / "b.gold_conll"
    second.write_text(text)
    (tmp_path / "a.gold_conll").write_text(text)
    instances = list(CorefReader().read(tmp_path))
    loader = SimpleDataLoader(list(instances), batch_size=1, shuffle=True, vocab=model.vocab)
    loader.set_target_device(next(model.parameters()).device)
    evaluator = Evaluator.from_params(Params({"type": "elmo_tasks_coref", "cuda_device": -1}))
    response = tmp_path / "out" / "response"
    scores = evaluator(model, loader, predictions_output_file=str(response))
    assert "f1" in scores and (tmp_path / "out" / "response.key").read_text() == text * 2
    written = response.read_text().splitlines()
    assert [line.split("\t")[:-1] for line in written] == [line.split("\t")[:-1] for line in (text * 2).splitlines()]
    assert written[: len(written) // 2] == written[len(written) // 2 :], "the same documents in both files"
    half = tmp_path / "half"
    half.write_text("".join(f"{line}\n" for line in written[: len(written) // 2]))
    predicted = model.forward_on_instances(instances[:3])
    clusters = [document_clusters(document) for document in read_documents(half)]
    assert clusters == [one["clusters"] for one in predicted] and any(clusters)
