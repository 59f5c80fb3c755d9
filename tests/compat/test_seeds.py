"""The key `seed`."""

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


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"seed": 5, "model": {"seed": 6}}, {**dict.fromkeys(SEEDS, 5), "model": {"seed": 6}}),
        ({"numpy_seed": 3}, {"numpy_seed": 3}),
        ({"seed": None, "numpy_seed": 3}, {"numpy_seed": 3}),
    ],
)
def test_one_seed_sets_three(config: dict[str, Any], expected: dict[str, Any]) -> None:
    params = Params(config)
    spread_seed(params)
    assert params.as_dict(quiet=True) == expected


@pytest.mark.parametrize(
    ("config", "message"),
    [
        *(({"seed": seed}, "expected an integer from 0 to 4294967295") for seed in (-1, 2**32, 1.5, "5", True, [1])),
        ({"seed": 5, "numpy_seed": 5}, "got numpy_seed, too"),
    ],
)
def test_invalid_seeds(config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        spread_seed(Params(config))


def test_resumed_training_has_the_same_seed(tmp_path: Path) -> None:
    params = Params({"seed": 7})
    training_util.create_serialization_dir(params, str(tmp_path / "run"), recover=False, force=False)
    assert params.as_dict(quiet=True) == dict.fromkeys(SEEDS, 7)
    params.to_file(str(tmp_path / "run" / "config.json"))
    first_step.remove_mark()
    training_util.create_serialization_dir(Params({"seed": 7}), str(tmp_path / "run"), recover=True, force=False)
    with pytest.raises(InputError, match="random_seed was 7, is 8"):
        training_util.create_serialization_dir(Params({"seed": 8}), str(tmp_path / "run"), recover=True, force=False)


def test_seed_of_the_language_models_text(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b\n")
    torch.manual_seed(7)
    loaders = [LmDataLoader(LmReader(), str(tmp_path / "text"), batch_size=1, seed=seed) for seed in (None, 3)]
    assert [loader.seed for loader in loaders] == [7, 3]
