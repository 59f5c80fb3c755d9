"""Equal runs: killed with SIGKILL and resumed with `--recover`, or uninterrupted; with the same seed."""

from pathlib import Path

import pytest

from tests.killing import Place, Training, differences
from tests.pretraining import toy
from tests.tiny import write_data_root

SMALL_CHARACTERS = "model.text_field_embedder.token_embedders.token_characters.encoder.num_filters"
OVERRIDES = {
    "ner_elmo": {
        "model.encoder.hidden_sizes": [5, 4],
        SMALL_CHARACTERS: 3,
        "data_loader.batch_sampler.batch_size": 1,
        "trainer.num_epochs": 3,
        "trainer.checkpointer.save_every_num_batches": 2,
    },
    "squad": {
        "model.encoder.hidden_size": 4,
        SMALL_CHARACTERS: 3,
        "data_loader.batch_sampler.batch_size": 1,
        "trainer.num_epochs": 3,
        "trainer.patience": 1,
    },
    "bilm": toy.overrides(**{"trainer.num_epochs": 2}),
}
FORWARD = "elmo_tasks.training.trainer:ResumableTrainer.batch_outputs"


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ("ner_elmo", Place("torch:save", 6, half=True)),
        ("squad", Place("elmo_tasks.training.trainer:ResumableTrainer._save_model_state", 1)),
        ("bilm", Place("torch:save", 5, half=True)),
    ],
)
def test_a_killed_run_equals_an_uninterrupted_one(config: str, place: Place, tmp_path: Path) -> None:
    """Killed within a checkpoint, between a checkpoint and the best weights, and between validation and checkpoint."""
    training = Training(config, write_data_root(tmp_path / "data"), OVERRIDES[config])
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert training.run(whole) == 0, (tmp_path / "whole.log").read_text()[-2000:]
    assert training.run(killed, killed_at=place) == -9
    assert not (killed / "metrics.json").exists()
    assert training.run(killed) == 0, (tmp_path / "killed.log").read_text()[-2000:]
    assert differences(killed, whole) == []


def test_two_killed_processes_equal_uninterrupted_ones(tmp_path: Path) -> None:
    """Each process has its own instances, their order, dropout and counts."""
    changes = {"distributed": {"cuda_devices": [-1, -1]}, "trainer.checkpointer.save_every_num_batches": 1}
    overrides = OVERRIDES["ner_elmo"] | {"trainer.num_epochs": 2} | changes
    training = Training("ner_elmo", write_data_root(tmp_path / "data"), overrides)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert training.run(whole) == 0, (tmp_path / "whole.log").read_text()[-2000:]
    assert training.run(killed, killed_at=Place(FORWARD, 2)) != 0
    assert [path.name for path in killed.glob("model_state_*")] == ["model_state_e0_b1.th"]
    assert training.run(killed) == 0, (tmp_path / "killed.log").read_text()[-2000:]
    assert differences(killed, whole) == []


def test_runs_with_the_same_seed_are_equal(tmp_path: Path) -> None:
    root = write_data_root(tmp_path / "data")
    for run, seed in (("one", 5), ("again", 5), ("other", 6)):
        training = Training("ner_elmo", root, OVERRIDES["ner_elmo"] | {"trainer.num_epochs": 1, "seed": seed})
        assert training.run(tmp_path / run) == 0, (tmp_path / f"{run}.log").read_text()[-2000:]
    assert differences(tmp_path / "again", tmp_path / "one") == []
    changed = differences(tmp_path / "other", tmp_path / "one")
    assert {"metrics.json/training_loss", "metrics.json/validation_loss"} <= set(changed)
