"""The names of a run's files are those of AllenNLP."""

from pathlib import Path

from allennlp.common.meta import META_NAME
from allennlp.models import archival, model
from allennlp.training import Checkpointer

from elmo_tasks.system import run_names


def test_names_are_those_of_allennlp(tmp_path: Path) -> None:
    assert archival.CONFIG_NAME == run_names.CONFIG
    assert META_NAME == run_names.META
    assert archival._WEIGHTS_NAME == run_names.WEIGHTS
    assert model._DEFAULT_WEIGHTS == run_names.BEST
    checkpointer = Checkpointer(str(tmp_path))
    paths = [
        checkpointer._training_state_path(3, 14),
        checkpointer._model_state_path(3, 14),
    ]
    for path in paths:
        found = run_names.CHECKPOINT.fullmatch(Path(path).name)
        assert found is not None
        assert (found["epochs"], found["batches"]) == ("3", "14")
    assert Path(paths[0]).match(run_names.TRAINING_STATES)


def test_metrics_of_epochs_are_in_order(tmp_path: Path) -> None:
    names = [run_names.epoch_metrics_name(epoch) for epoch in (10, 9, 0)]
    for name in [*names, "metrics_epoch_1.json.old", "metrics_epoch_last.json"]:
        (tmp_path / name).touch()
    found = run_names.epoch_metrics(tmp_path)
    assert list(found) == [0, 9, 10]
    assert found[9] == tmp_path / "metrics_epoch_9.json"
