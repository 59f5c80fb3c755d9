"""
The sentiment classifier. Properties of all task models are in
tests/tasks/test_task_models.py.
"""

import pytest
import torch

from tests.models import Build, corpus, tensors

SECOND = {"type": "elmo_tasks_stacked_lstm", "hidden_sizes": [2]}


def test_logits_from_the_parts(build: Build) -> None:
    model = build()
    batch = tensors(model.vocab, corpus("sst"))
    h, _, mask = model.input_encoder(batch["tokens"])
    rows = []
    for row, length in enumerate(mask.sum(1).tolist()):
        x = h[row : row + 1, :length]  # [1, T, D]
        c = (x @ x.transpose(1, 2)).softmax(2) @ x
        whole = torch.ones(1, length, dtype=torch.bool)
        integrated = model.integrator(torch.cat([x, x - c, x * c], 2), whole)
        rows.append(model.head(model.pool(integrated, whole))[0])
    output = model(**batch)
    logits = output["logits"]
    assert torch.allclose(logits, torch.stack(rows), atol=1e-5)
    expected = -torch.stack(rows).log_softmax(1)[range(4), batch["label"]].mean().item()
    assert output["loss"].item() == pytest.approx(expected, rel=1e-5)
    assert set(model.make_output_human_readable(output)) == {
        "words",
        "probabilities",
        "label",
        "loss",
        "loss_total",
        "loss_count",
    }
    assert model.get_metrics() == {
        "accuracy": (logits.argmax(1) == batch["label"]).float().mean().item()
    }


def test_the_second_encoder_reads_elmos_output_vectors(build: Build) -> None:
    """Appendix A.8: the output ELMo vectors are computed with a second biLSTM."""
    model = build(elmo={"at": "both"}, elmo_output_encoder=SECOND)
    layers, batch = model.input_encoder, tensors(model.vocab, corpus("sst"))
    h, x, mask = layers(batch["tokens"])
    assert layers.elmo is not None and layers.elmo_output_encoder is not None
    vectors = layers.elmo.output_vectors(
        layers.elmo.layers(batch["tokens"]["elmo"]["elmo_tokens"])
    )
    expected = torch.cat(
        [layers.encoder(x, mask), layers.elmo_output_encoder(vectors, mask)], -1
    )
    assert torch.allclose(h, expected, atol=1e-6)
    model(**batch)["loss"].backward()
    trained = {
        **dict(layers.elmo_output_encoder.named_parameters()),
        **dict(layers.elmo.output_mix.named_parameters()),
    }
    assert len(trained) == 10 and all(
        p.grad is not None and p.grad.any() for p in trained.values()
    )
