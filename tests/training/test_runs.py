"""
A run killed with SIGKILL and resumed with `--recover` equals an uninterrupted one, in
one process and in two.
"""

from pathlib import Path

import pytest

from tests.killing import FORWARD, SMALL_NER, Place, Training, differences
from tests.pretraining import toy
from tests.tiny import write_data_root

pytestmark = pytest.mark.slow

OVERRIDES = {
    "ner_elmo": SMALL_NER
    | {"trainer.num_epochs": 3, "trainer.checkpointer.save_every_num_batches": 2},
    "bilm": toy.overrides(**{"trainer.num_epochs": 2, "model.reset_probability": 0.3}),
}


@pytest.mark.parametrize(
    ("config", "processes", "place"),
    [
        ("ner_elmo", 1, Place("torch:save", 6, half=True)),
        ("ner_elmo", 2, Place(FORWARD, 4)),
        ("bilm", 2, Place(FORWARD, 9)),
    ],
)
def test_a_killed_run_equals_an_uninterrupted_one(
    config: str, processes: int, place: Place, tmp_path: Path
) -> None:
    """
    Killed within a checkpoint, and in a forward pass; the first two are those of the
    check before the training.
    """
    two = {
        "distributed": {"cuda_devices": [-1, -1]},
        "trainer.num_epochs": 2,
        "trainer.checkpointer.save_every_num_batches": 1,
    }
    overrides = OVERRIDES[config] | (two if processes == 2 else {})
    training = Training(config, write_data_root(tmp_path / "data"), overrides)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert training.run(whole) == 0, (tmp_path / "whole.log").read_text()[-2000:]
    assert training.run(killed, killed_at=place) != 0
    assert list(killed.glob("model_state_*")) and not (killed / "metrics.json").exists()
    assert training.run(killed) == 0, (tmp_path / "killed.log").read_text()[-2000:]
    assert differences(killed, whole) == []
