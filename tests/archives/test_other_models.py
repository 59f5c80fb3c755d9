"""
`elmo-tasks` with a model and a trainer of AllenNLP, which know nothing of the paper.
"""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from allennlp.data.tokenizers import PretrainedTransformerTokenizer
from allennlp.models import Model, SimpleTagger

from elmo_tasks.errors import InputError
from tests.elmo.sources.transformer_samples import write_transformer
from tests.test_flow import elmo_tasks
from tests.tiny import ELMO_DIM, SAMPLES, bilm_files

WORDS = [{"sentence": "Mira left ."}, {"sentence": "The ferry sank ."}]


@Model.register("tests_tagger_without_predictor")
class TaggerWithoutPredictor(SimpleTagger):
    """A user's model."""

    default_predictor = None


class Run(NamedTuple):
    folder: Path
    config: dict[str, Any]
    output: str


def tagger(folder: Path) -> dict[str, Any]:
    """
    The config of a tagger with ELMo; its trainer is the default one, AllenNLP's
    `gradient_descent`.
    """
    elmo = {"type": "elmo_tasks", **bilm_files(folder / "bilm")}
    reader = {
        "type": "conll2003",
        "token_indexers": {"elmo": {"type": "elmo_tasks_characters"}},
    }
    return {
        "dataset_reader": reader,
        "train_data_path": str(SAMPLES["ner"]),
        "validation_data_path": str(SAMPLES["ner"]),
        "model": {
            "type": "tests_tagger_without_predictor",
            "text_field_embedder": {"token_embedders": {"elmo": elmo}},
            "encoder": {"type": "pass_through", "input_dim": ELMO_DIM},
        },
        "data_loader": {"batch_size": 2},
        "trainer": {
            "num_epochs": 2,
            "optimizer": "adam",
            "validation_metric": "+accuracy",
        },
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs")
    config = tagger(folder)
    (folder / "tagger.json").write_text(json.dumps(config))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        elmo_tasks("train", folder / "tagger.json", "-s", folder / "run")
    return Run(folder / "run", config, output.getvalue())


def test_a_training_prints_its_data_and_its_archive(run: Run) -> None:
    lines = [line for line in run.output.splitlines() if " - " not in line]
    archive = run.folder / "model.tar.gz"
    assert lines == [f"training on {SAMPLES['ner']}", f"model: {archive}"]
    assert json.loads((run.folder / "config.json").read_text()) == run.config


def test_predict_without_a_default_predictor(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = tmp_path / "in.jsonl"
    read.write_text("".join(json.dumps(line) + "\n" for line in WORDS))
    archive = run.folder / "model.tar.gz"
    with pytest.raises(InputError) as got:
        elmo_tasks("predict", archive, read, "--output-file", tmp_path / "out.jsonl")
    assert re.match("expected --predictor NAME, .* sentence_tagger, ", str(got.value))
    assert "\n" not in str(got.value)
    with pytest.raises(InputError, match=r"got 'sentence'.*elmo_tasks_ner.*sentence_t"):
        elmo_tasks("predict", archive, read, "--predictor", "sentence")
    assert not (tmp_path / "out.jsonl").exists()


def test_allennlps_tokenizer_of_a_transformer(tmp_path: Path) -> None:
    """It passes an argument that newer tokenizers reject."""
    folder = write_transformer(tmp_path / "roberta", "Roberta")
    tokenizer = PretrainedTransformerTokenizer(folder)
    tokens = [token.text for token in tokenizer.tokenize("The harbour froze .")]
    assert tokens[0] == "<s>" and tokens[-1] == "</s>" and len(tokens) > 3
