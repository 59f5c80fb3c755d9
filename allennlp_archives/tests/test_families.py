"""
Archives of all families of allennlp-models: the commands give what the trained model
gave.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("allennlp_models", reason="tested by make test-models")


from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.loading import score
from elmo_tasks.web.loaded import LoadedModel
from families import FAMILIES, WITHOUT_PREDICTOR
from helpers import Trained, assert_alike, described, given, local, opened, write_lines
from tests.test_flow import elmo_tasks
from tests.tiny import ROOT

Train = Callable[[str], Trained]
NINE = {
    "classification",
    "coref",
    "generation",
    "lm",
    "mc",
    "pair_classification",
    "rc",
    "structured_prediction",
    "tagging",
}

pytestmark = pytest.mark.usefixtures("with_spacy_model")


def test_there_is_an_archive_of_each_family() -> None:
    assert {name.partition(",")[0] for name in FAMILIES} == NINE


@pytest.mark.parametrize("name", FAMILIES)
def test_predict(name: str, trained: Train, place: Path, tmp_path: Path) -> None:
    run = trained(name)
    lines = write_lines(name, tmp_path / "in.jsonl")
    out = tmp_path / "out.jsonl"
    with local(given(name, place)):
        elmo_tasks("predict", run.archive, lines, "--output-file", out)
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert_alike(found, json.loads(json.dumps(run.predictions)))


@pytest.mark.parametrize("name", WITHOUT_PREDICTOR)
def test_a_model_without_predictor_is_named(name: str, trained: Train) -> None:
    run = trained(name)
    with pytest.raises(InputError, match="no default predictor"):
        elmo_tasks("predict", run.archive, run.corpus)


@pytest.mark.parametrize("name", [*FAMILIES, *WITHOUT_PREDICTOR])
def test_evaluate(name: str, trained: Train, place: Path) -> None:
    run = trained(name)
    archive = opened(run.archive, given(name, place))
    found = score(archive, run.corpus)
    found.pop("loss", None)  # ours is the mean over instances, AllenNLP's over batches
    expected = dict(run.scores)
    expected.pop("loss", None)
    assert_alike(found, expected)


def test_evaluate_from_the_command_line(
    trained: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    run = trained("tagging")
    capsys.readouterr()  # AllenNLP's training writes there
    elmo_tasks("evaluate", run.archive, run.corpus)
    found = json.loads(capsys.readouterr().out)
    assert found["f1-measure-overall"] == pytest.approx(
        run.scores["f1-measure-overall"]
    )


WITHOUT_PAGE = ("rc, dialog", *WITHOUT_PREDICTOR)


@pytest.mark.parametrize("name", WITHOUT_PAGE)
def test_serve_has_no_page_for_others(name: str, trained: Train) -> None:
    kind = {**FAMILIES, **WITHOUT_PREDICTOR}[name].config["model"]["type"]
    with pytest.raises(InputError, match=f"got '{kind}' .*with elmo_tasks.load"):
        LoadedModel(trained(name).archive)


@pytest.mark.parametrize(
    "name", [name for name in FAMILIES if name not in WITHOUT_PAGE]
)
def test_serve(name: str, trained: Train, place: Path) -> None:
    run = trained(name)
    with local(given(name, place)):
        model = LoadedModel(run.archive)
    about = model.describe()
    assert about["mix"] is None
    answer = json.loads(model.answer(FAMILIES[name].lines[0]))
    assert_alike(answer, json.loads(json.dumps(run.predictions[0])))
    for key in ("probs", "label_probs", "class_probabilities"):
        if "label" in answer and key in answer:
            likely = answer[key].index(max(answer[key]))
            assert len(about["labels"]) == len(answer[key])
            assert about["labels"][likely] == answer["label"]


@pytest.mark.parametrize("name", FAMILIES)
def test_info(name: str, trained: Train, place: Path) -> None:
    run = trained(name)
    shown = described(run.archive, given(name, place))
    kind = FAMILIES[name].config["model"]["type"]
    assert shown[0].startswith(f"model: {kind}, ")
    assert "trained with: AllenNLP 2.10.1" in shown
    assert not [line for line in shown if "NOT" in line]
    for transformer, folder in given(name, place).items():
        assert f"needs: {transformer}, found: {folder}" in shown


def test_info_from_the_command_line(
    trained: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    elmo_tasks("info", trained("tagging").archive)
    shown = capsys.readouterr().out
    assert "predictor: sentence_tagger\n" in shown
    assert re.search(r"^vocabulary: labels \d+, tokens \d+$", shown, re.MULTILINE)
    assert "needs: spaCy's en_core_web_sm, installed\n" in shown


ALLENNLP = ("tagging", "coref", "mc")
"""One with ELMo, one with spaCy's model, one with a transformer."""


@pytest.mark.parametrize("name", ALLENNLP)
def test_allennlp_itself_gives_the_same(
    name: str, trained: Train, place: Path, spacy_package: Path, tmp_path: Path
) -> None:
    """With `python -m elmo_tasks.host`, which is `allennlp` on today's Python."""
    run = trained(name)
    lines = write_lines(name, tmp_path / "in.jsonl")
    out = tmp_path / "out.jsonl"
    subprocess.run(
        [sys.executable, "-m", "elmo_tasks.host", "predict", run.archive, lines]
        + ["--output-file", out],
        cwd=place,
        env=os.environ | {"PYTHONPATH": f"{spacy_package}:{ROOT}"},
        check=True,
        capture_output=True,
    )
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert_alike(found, json.loads(json.dumps(run.predictions)))
