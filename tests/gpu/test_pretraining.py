"""
The biLM trains on a GPU as on the CPU, with each softmax and precision, and after an
interruption.
"""

from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.pretraining.scores.perplexity import perplexity
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from tests.gpu.runs import built, disable_dropout, trained
from tests.pretraining import toy
from tests.pretraining.test_language_model import language_model, random_batch

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("keys", "rel"),
    [
        ({"model.negatives": 5}, 1e-4),
        ({"model.negatives": None}, 1e-4),
        ({"model.negatives": 5, "model.precision": "bfloat16"}, 2e-2),
    ],
    ids=["sampled", "full", "bfloat16"],
)
def test_two_steps_and_an_evaluation(
    keys: dict[str, Any], rel: float, configs: Path, tmp_path: Path, gpu: torch.device
) -> None:
    config = configs / "bilm.jsonnet"
    expected = trained(config, tmp_path / "cpu", CPU, **keys)
    assert trained(config, tmp_path / "gpu", gpu, **keys) == pytest.approx(
        expected, rel=rel
    )


@pytest.mark.parametrize("negatives", [None, 5])
def test_gradients_and_carried_states(negatives: int | None, gpu: torch.device) -> None:
    """Of two consecutive batches."""
    model = language_model(negatives=negatives)
    batches = [random_batch(), random_batch()]
    results = []
    for device in (CPU, gpu):
        torch.manual_seed(7)
        model.to(device).train().zero_grad()
        states: Any = None
        for batch in batches:
            output = model(batch.to(device), states)
            states = output.states
            output.loss.backward()
        values = [output.nll]
        for own in states.values():
            for pair in own:
                for part in pair:
                    assert part.device == device
                    values.append(part)
        values += [parameter.grad for parameter in model.parameters()]
        results.append([value.cpu() for value in values])
    for found, expected in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_perplexity_of_files(tmp_path: Path, gpu: torch.device) -> None:
    model = toy.fake_run(tmp_path / "run")
    words = WordVocabulary(["<S>", "</S>", "<UNK>", *toy.WORDS])
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for seed, file in enumerate(files):
        file.write_text("\n".join(toy.sentences(20, seed=seed)) + "\n")
    options: dict[str, Any] = {"rows": 4, "unroll": 5}
    expected = list(perplexity(model, words, files, **options))
    found = list(perplexity(model.to(gpu), words, files, **options))
    for (name, one), (other_name, other) in zip(found, expected, strict=True):
        assert name == other_name
        assert one == pytest.approx(other, rel=1e-4)


def test_a_resumed_run_is_an_uninterrupted_one(
    configs: Path, tmp_path: Path, gpu: torch.device
) -> None:
    """The checkpoint has the states that the model carries, and the random state."""
    config = configs / "bilm.jsonnet"
    weights = []
    for name, parts in (("whole", [2]), ("resumed", [1, 2])):
        for epochs in parts:
            run = built(config, tmp_path / name, gpu, **{"trainer.num_epochs": epochs})
            if gpu.type == "cuda":
                disable_dropout(run.model)
            run.trainer.train()
        weights.append([weight.cpu() for weight in run.model.parameters()])
    for found, expected in zip(weights[0], weights[1], strict=True):
        torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)
