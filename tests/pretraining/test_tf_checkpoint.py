"""The softmax of a checkpoint of bilm-tf."""

import json
import re
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import Mock

import h5py
import numpy as np
import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.callbacks import Tuning
from elmo_tasks.pretraining.data_loader import LmVocabulary
from elmo_tasks.pretraining.model import BiLMModel
from elmo_tasks.pretraining.tf_checkpoint import import_softmax
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from tests.pretraining import toy
from tests.pretraining.test_tuning import exported

WORDS = ["<S>", "</S>", "<UNK>", "the", "cook"]


VARIABLES = {"lm/softmax/W": np.arange(10.0).reshape(5, 2), "lm/softmax/b": -np.arange(5.0)}


class OpError(Exception):
    """TensorFlow's."""


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """Those of any checkpoint, which a stand-in for TensorFlow reads."""
    found = dict(VARIABLES)
    reader = Mock(get_variable_to_shape_map=lambda: found, get_tensor=found.__getitem__)
    tensorflow = Mock(errors=Mock(OpError=OpError), __spec__=ModuleSpec("tensorflow", None))
    tensorflow.train.load_checkpoint = lambda prefix: reader
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A biLM of width 2, and the words of its softmax."""
    folder = tmp_path / "bilm"
    folder.mkdir()
    options = {**toy.OPTIONS, "lstm": {**toy.OPTIONS["lstm"], "projection_dim": 2}}
    (folder / "options.json").write_text(json.dumps(options))
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    return folder


def arrays(file: Path) -> list[tuple[str, np.ndarray]]:
    found: list[tuple[str, np.ndarray]] = []
    with h5py.File(file) as opened:
        opened.visititems(
            lambda name, item: found.append((name, item[...])) if isinstance(item, h5py.Dataset) else None
        )
    return found


def test_invalid_checkpoints(variables: dict[str, np.ndarray], folder: Path) -> None:
    variables["lm/softmax/b"] = np.zeros(6)
    with pytest.raises(InputError, match=r"model.ckpt-1: expected the shapes .*\(6,\)"):
        import_softmax("model.ckpt-1", folder / "words.txt", folder)
    sys.modules["tensorflow"].train.load_checkpoint = Mock(side_effect=OpError("Data loss"))  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="model.ckpt-1: expected a checkpoint of TensorFlow: Data loss"):
        import_softmax("model.ckpt-1.index", folder / "words.txt", folder)
    assert not (folder / "softmax.hdf5").exists()


def variable(dataset: str) -> str:
    """The name of bilm-tf, whose `dump_weights` renames it to that of the dataset."""
    name = re.sub("/RNN/MultiRNNCell/Cell(.)/LSTMCell/", r"/rnn/multi_rnn_cell/cell_\1/lstm_cell/", f"lm/{dataset}")
    return re.sub("/B$", "/bias", name.replace("W_P_0", "projection/kernel").replace("W_0", "kernel"))


def test_accumulators_are_those_with_which_adagrad_starts(variables: dict[str, np.ndarray], tmp_path: Path) -> None:
    torch.manual_seed(3)
    sums = exported(tmp_path / "sums", WORDS)  # stands for the accumulators, in the layout of the official files
    values = {name: array for file in ("weights", "softmax") for name, array in arrays(tmp_path / f"sums/{file}.hdf5")}
    stored = {variable(name) + "/Adagrad": value for name, value in values.items()}
    stored |= {f"lm/{name}": value for name, value in values.items() if name.startswith("softmax")}
    assert "lm/RNN_1/rnn/multi_rnn_cell/cell_0/lstm_cell/projection/kernel/Adagrad" in stored
    variables.update(stored)
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    exported(folder := tmp_path / "bilm", WORDS)
    import_softmax(tmp_path / "ckpt", tmp_path / "words.txt", folder)
    model = BiLMModel.tuned(LmVocabulary.of(WordVocabulary(WORDS)), str(folder))
    trainer = Mock(model=model, _start_after_epochs_completed=0)
    trainer.optimizer = torch.optim.Adagrad(model.parameters())
    Tuning(str(tmp_path), accumulators=str(folder / "adagrad")).on_start(trainer, is_primary=False)
    pairs = zip(sums.named_parameters(), model.language_model.named_parameters(), strict=True)
    assert all(torch.equal(value, trainer.optimizer.state[own]["sum"]) for (_, value), (_, own) in pairs)
    trainer.optimizer = torch.optim.Adam(model.parameters())
    with pytest.raises(InputError, match="expected the optimizer adagrad"):
        Tuning(str(tmp_path), accumulators=str(folder / "adagrad")).on_start(trainer, is_primary=False)
