"""A biLM without training."""

from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import batch_to_ids
from elmo_tasks.bilm.untrained import write_untrained
from elmo_tasks.errors import InputError
from elmo_tasks.resources import embedded_bilm

OPTIONS = embedded_bilm()[0]


def layers_of(files: list[Path]) -> torch.Tensor:
    ids = batch_to_ids([["They", "watched", "the", "play", "."]])
    layers: torch.Tensor = BiLM.from_files(*files)(ids).layers
    return layers


@pytest.mark.parametrize("chosen", ["hdf5", "safetensors"])
def test_the_seed_alone_makes_the_weights(tmp_path: Path, chosen: str) -> None:
    before = torch.random.get_rng_state()
    made = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        torch.manual_seed(len(made))  # what other code has drawn
        files = write_untrained(tmp_path / name, OPTIONS, seed=seed, chosen=chosen)
        made.append(layers_of(files))
    torch.random.set_rng_state(before)
    assert torch.equal(made[0], made[1])
    assert not torch.allclose(made[0], made[2], atol=0.01)


def test_it_has_the_architecture_and_not_the_weights_of_the_options_model(
    tmp_path: Path,
) -> None:
    trained = layers_of(list(embedded_bilm()))
    untrained = layers_of(write_untrained(tmp_path / "new", OPTIONS))
    assert untrained.shape == trained.shape
    assert untrained.isfinite().all()
    assert untrained.std(dim=-1).min() > 0  # no layer is constant
    similarity = torch.cosine_similarity(untrained, trained, dim=-1)
    assert similarity.abs().max() < 0.5


def test_a_trained_model_is_not_overwritten(tmp_path: Path) -> None:
    files = write_untrained(tmp_path / "model", OPTIONS)
    before = files[1].read_bytes()
    with pytest.raises(InputError, match="expected a new or empty folder"):
        write_untrained(tmp_path / "model", OPTIONS, seed=2)
    assert files[1].read_bytes() == before
