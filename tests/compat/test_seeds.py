from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.training import util as training_util

from elmo_tasks.compat.seeds import SEEDS, spread_seed
from elmo_tasks.errors import InputError


@pytest.mark.parametrize("config", [{"seed": 2**32}, {"seed": "5"}, {"seed": True}, {"seed": 5, "numpy_seed": 5}])
def test_invalid_seeds(config: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^seed: expected an integer from 0 to 4294967295|got numpy_seed, too"):
        spread_seed(Params(config))


def test_resumed_training_has_the_same_seed(tmp_path: Path) -> None:
    params = Params({"seed": 7})
    training_util.create_serialization_dir(params, str(tmp_path / "run"), recover=False, force=False)
    assert params.as_dict(quiet=True) == dict.fromkeys(SEEDS, 7)
    params.to_file(str(tmp_path / "run" / "config.json"))
    training_util.create_serialization_dir(Params({"seed": 7}), str(tmp_path / "run"), recover=True, force=False)
    with pytest.raises(InputError, match="random_seed: 7 -> 8"):
        training_util.create_serialization_dir(Params({"seed": 8}), str(tmp_path / "run"), recover=True, force=False)
