"""The example in docs/LAYERS.md of another model, from its config to predictions, without network access."""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from tests.elmo.samples import options
from tests.test_flow import allennlp
from tests.tiny import FIXTURES, ROOT, bilm_files

CORPUS = FIXTURES / "ner" / "eng.bio"
PREDICTOR = ["--predictor", "elmo_tasks_tagger"]
TOKENS = ["Captain", "Oakes", "sold", "the", "ferry", "."]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with small data and a small biLM."""
    folder = tmp_path_factory.mktemp("tagger")
    text = (ROOT / "docs" / "LAYERS.md").read_text()
    (example,) = re.findall(r"cat > tagger.jsonnet <<'EOF'\n(.*?)EOF\n", text, re.DOTALL)
    (folder / "example.jsonnet").write_text(example)
    paths = {f"{split}_data_path": str(CORPUS) for split in ("train", "validation")}
    sizes = {"model.encoder.input_size": 2 * options().projection_dim, "trainer.num_epochs": 1}
    elmo = {f"model.text_field_embedder.token_embedders.elmo.{k}": v for k, v in bilm_files(folder / "bilm").items()}
    file = folder / "tagger.json"
    Params.from_file(folder / "example.jsonnet", json.dumps({**paths, **sizes, **elmo})).to_file(str(file))
    return file


@pytest.fixture(scope="module")
def archive(config: Path) -> Iterator[Path]:
    allennlp("train", config, "-s", config.parent / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "socket", None)
        yield config.parent / "run" / "model.tar.gz"


def test_tokens_and_text(archive: Path, tmp_path: Path) -> None:
    lines = [{"tokens": TOKENS, "id": "a"}, {"sentence": " ".join(TOKENS)}, {"tokens": ["Oakes"]}]
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    allennlp("predict", archive, given, *PREDICTOR, "--output-file", out, "--silent", "--batch-size", 3)
    named, text, short = map(json.loads, out.read_text().splitlines())
    assert named.keys() == {"id", "tokens", "tags"} and text.keys() == {"tokens", "tags", "offsets"}
    assert named["tokens"] == text["tokens"] == TOKENS and named["tags"] == text["tags"]
    assert len(named["tags"]) == len(TOKENS) and len(short["tags"]) == 1
    assert [" ".join(TOKENS)[start:end] for start, end in text["offsets"]] == TOKENS


def test_a_file_of_the_corpus(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    allennlp("predict", archive, CORPUS, *PREDICTOR, "--use-dataset-reader", "--output-file", out, "--silent")
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [len(one["tokens"]) for one in found] == [len(one["tags"]) for one in found] == [9, 7, 7]


def test_other_inputs_and_outputs_are_rejected(archive: Path) -> None:
    predictor = Predictor.from_archive(load_archive(archive), PREDICTOR[1])
    with pytest.raises(InputError, match="got {'id': 3}"):
        predictor.predict_json({"id": 3})
    with pytest.raises(InputError, match="expected a model whose output has 'tags', got one with label"):
        predictor.result(None, {"label": "A"})  # type: ignore[attr-defined]
