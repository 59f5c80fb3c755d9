"""One `seed` for everything that is drawn."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.training import util as training_util

from elmo_tasks.compat import first_step
from elmo_tasks.compat.seeds import SEEDS, spread_seed
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.data_loader import LmDataLoader, LmReader


def spread(config: dict[str, Any]) -> dict[str, Any]:
    params = Params(config)
    spread_seed(params)
    return dict(params.as_dict(quiet=True))


def test_one_seed_is_three() -> None:
    assert spread({"seed": 5, "model": {"seed": 6}}) == {**dict.fromkeys(SEEDS, 5), "model": {"seed": 6}}


@pytest.mark.parametrize("config", [{}, {"numpy_seed": 3}, {"seed": None, "numpy_seed": 3}])
def test_without_it_nothing_changes(config: dict[str, Any]) -> None:
    assert spread(config) == {key: value for key, value in config.items() if key != "seed"}


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "5", True, [1]])
def test_a_seed_that_is_none(seed: object) -> None:
    with pytest.raises(InputError, match=r"seed must be an integer from 0 to 4294967295, found "):
        spread({"seed": seed})


def test_both_ways_at_once_are_refused() -> None:
    with pytest.raises(InputError, match="seed sets random_seed, numpy_seed, pytorch_seed; found numpy_seed besides"):
        spread({"seed": 5, "numpy_seed": 5})


def test_a_training_takes_it_and_a_resumed_one_finds_it(tmp_path: Path) -> None:
    params = Params({"seed": 7})
    training_util.create_serialization_dir(params, str(tmp_path / "run"), recover=False, force=False)
    assert params.as_dict(quiet=True) == dict.fromkeys(SEEDS, 7)
    params.to_file(str(tmp_path / "run" / "config.json"))
    first_step.remove_mark()
    training_util.create_serialization_dir(Params({"seed": 7}), str(tmp_path / "run"), recover=True, force=False)
    with pytest.raises(InputError, match="random_seed was 7, is 8"):
        training_util.create_serialization_dir(Params({"seed": 8}), str(tmp_path / "run"), recover=True, force=False)


def test_the_language_models_text_follows_it(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b\n")
    torch.manual_seed(7)
    loaders = [LmDataLoader(LmReader(), str(tmp_path / "text"), batch_size=1, seed=seed) for seed in (None, 3)]
    assert [made.seed for made in loaders] == [7, 3]
