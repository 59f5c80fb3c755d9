"""
Fine-tuning a biLM on a task's text: the text, the initial weights, and a run of the
config.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.model import BiLMModel
from elmo_tasks.pretraining.export import load_trained, write_exported
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.vocabulary import SPECIALS, UNKNOWN, WordVocabulary
from tests.pretraining import toy
from tests.test_flow import elmo_tasks

WORDS = list(SPECIALS) + ["the", "ferry", "left", "Harrow", "a"]


def exported(folder: Path, words: list[str] = WORDS) -> BiLanguageModel:
    torch.manual_seed(4)
    bilm = BiLM(BiLMOptions.from_dict(toy.OPTIONS))
    model = BiLanguageModel(
        bilm, OutputSoftmax(len(words), bilm.options.projection_dim)
    )
    with torch.no_grad():
        model.softmax.bias.normal_()
    folder.mkdir(parents=True)
    write_exported(model, WordVocabulary(words), folder)
    return model


def tuned(place: Any, words: list[str]) -> BiLMModel:
    return BiLMModel.tuned(LmVocabulary.of(WordVocabulary(words)), place)


def test_tuning_starts_from_the_exported_weights(tmp_path: Path) -> None:
    before = exported(tmp_path / "bilm")
    model = tuned(str(tmp_path / "bilm"), WORDS)
    assert model.knows_words
    expected = before.state_dict()
    found = model.language_model.state_dict()
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert torch.equal(found[name], value), name
    assert all(parameter.requires_grad for parameter in model.parameters())


@torch.no_grad()
@pytest.mark.parametrize("front", [False, True], ids=["after", "before"])
def test_new_words_share_the_probability_of_unk(
    front: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """New words may come after the known ones or, being more frequent, before them."""
    before = exported(tmp_path / "bilm").softmax
    new_words = [f"new{number}" for number in range(500)]
    if front:
        words = [
            *SPECIALS,
            *[f"a{word}" for word in new_words],
            *WORDS[len(SPECIALS) :],
        ]
    else:
        words = WORDS + new_words
    caplog.set_level("INFO", "elmo_tasks")
    model = tuned(str(tmp_path / "bilm"), words)
    assert model.knows_words
    after = model.language_model.softmax.double()
    hidden = torch.randn(20, before.dim, dtype=torch.float64)
    known = [k for k in range(len(WORDS)) if k != UNKNOWN]
    before.double()
    old = (hidden @ before.weight.t() + before.bias).softmax(1)
    new = (hidden @ after.weight.t() + after.bias).softmax(1)
    places = [words.index(WORDS[k]) for k in known]
    assert torch.allclose(new[:, places], old[:, known], rtol=1e-5, atol=1e-6)
    assert (
        "new softmax: 508 words instead of 8; 500 unseen words start as <UNK>"
        in caplog.text
    )


def test_a_bilm_without_softmax_gets_a_new_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exported(tmp_path / "bilm")
    for name in ("softmax.hdf5", "vocabulary.txt"):
        (tmp_path / "bilm" / name).unlink()
    model = tuned(str(tmp_path / "bilm"), WORDS)
    assert not model.knows_words
    assert model.language_model.softmax.vocabulary_size == 8
    assert "initializing one for 8 words at random" in caplog.text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    One epoch of the config on a toy corpus, from a random biLM with the same words.
    """
    folder = tmp_path_factory.mktemp("tuning")
    (folder / "ner").mkdir()
    for name, count in (("eng.train", 80), ("eng.testa", 20)):
        sentences = toy.sentences(count, seed=count)
        columns = [sentence.replace(" ", " O\n") + " O" for sentence in sentences]
        (folder / "ner" / name).write_text("\n\n".join(columns) + "\n")
    exported(folder / "bilm", list(SPECIALS) + list(toy.WORDS))
    leaf = folder / "leaf.jsonnet"
    toy.write_configs(folder)
    leaf.write_text("""
        local task = import 'training_config/ner.jsonnet';
        (import 'training_config/bilm_finetune.jsonnet') {
          dataset_reader+: { reader: task.dataset_reader, fields: ['tokens'] },
          train_data_path: task.train_data_path,
          validation_data_path: task.validation_data_path,
          trainer+: { optimizer+: { lr: 0.02 } },
        }
    """)
    elmo_tasks("train", leaf, "-s", folder / "run")
    return folder / "run"


def test_a_run_of_the_config(run: Path) -> None:
    found = json.loads((run / "perplexities.json").read_text())
    assert found["perplexity"] < 0.8 * found["perplexity_before"]
    metrics = json.loads((run / "metrics.json").read_text())
    assert found["perplexity"] == pytest.approx(
        metrics["best_validation_perplexity"], rel=1e-3
    )
    places = (run, run / "exported")
    weights = [
        load_trained(place).model.bilm.token_encoder.characters for place in places
    ]
    assert torch.equal(weights[0], weights[1])
    before = load_trained(run.parent / "bilm").model.bilm.token_encoder.characters
    assert (weights[0] - before).abs().max() > 1e-3


def test_a_new_softmax_is_trained_first(run: Path, tmp_path: Path) -> None:
    """
    Epochs 1 and 2: the softmax alone; epoch 3: everything, also after the run was
    resumed in between.
    """
    names = ("options.json", "weights.hdf5")
    files = "+".join([str(run.parent / "bilm" / name) for name in names])
    changes = {
        "model.bilm": files,
        "trainer.checkpointer.keep_most_recent_by_count": 3,
        "trainer.num_epochs": 3,
    }
    changes["trainer.callbacks.1.softmax_epochs"] = 2
    out = tmp_path / "run"
    given = ["train", run.parent / "leaf.jsonnet", "-o", json.dumps(changes), "-s"]
    elmo_tasks(*given, out)
    states = [torch.load(out / f"model_state_e{epoch}_b0.th") for epoch in (1, 2, 3)]
    start = {
        f"language_model.bilm.{key}": value
        for key, value in BiLM.from_files(*files.split("+")).state_dict().items()
    }
    for state, same in zip(states, (True, True, False), strict=True):
        assert all(torch.equal(state[key], start[key]) for key in start) == same
    losses = []
    for epoch in range(3):
        metrics = json.loads((out / f"metrics_epoch_{epoch}.json").read_text())
        losses.append(metrics["training_loss"])
    assert losses == sorted(losses, reverse=True)
    assert list(json.loads((out / "perplexities.json").read_text())) == ["perplexity"]
    for file in out.glob("*_e3_b0.th"):
        file.unlink()
    elmo_tasks(*given, out, "--recover")
    again = torch.load(out / "model_state_e3_b0.th")
    for key, value in states[2].items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(again[key], value), key
