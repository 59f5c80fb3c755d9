"""A checkpoint of bilm-tf is read without TensorFlow."""

import base64
import json
import re
import zlib
from pathlib import Path
from unittest.mock import Mock

import h5py
import numpy as np
import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.data_loader import LmVocabulary
from elmo_tasks.pretraining.model import BiLMModel
from elmo_tasks.pretraining.tf_checkpoint import TensorFlowCheckpoint, import_softmax
from elmo_tasks.pretraining.tuning import Tuning
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from tests.pretraining import toy
from tests.pretraining.test_tuning import exported

# Saved by TensorFlow 2.21: lm/softmax/W of 0 to 9, [5, 2], lm/softmax/b of 0 to -4, and the int64 global_step.
INDEX = (
    "eNpjYGDjYJRi4mBk4OZOz8lPSsyJLy5JLeDgFGLQ4DDVZJ7BzsAjmpOrX5yfVpKbWKEfzsEoxCHExMEKxEwKHBoapoun6k/kZhRMAkqwgCQU"
    "DDRETN/7T33FAASMIMJ+yYYYOOfAp4UbGBiZchmS4UJ3/+zbnMFRysdABAj/3dCtUup+GwAoTiA8"
)
DATA = "eNpjYEAGDfZAwgGIgLgBiBcA8QEgfgDEDI4MDAKOUHX7gcQBoDogbjgAAPpQChE="
WORDS = ["<S>", "</S>", "<UNK>", "the", "cook"]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    for suffix, packed in (("index", INDEX), ("data-00000-of-00001", DATA)):
        (tmp_path / f"model.ckpt-1.{suffix}").write_bytes(zlib.decompress(base64.b64decode(packed)))
    return tmp_path / "model.ckpt-1"


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


def test_softmax_is_written_beside_the_bilm(checkpoint: Path, folder: Path) -> None:
    assert set(TensorFlowCheckpoint(checkpoint).entries) == {"lm/softmax/W", "lm/softmax/b"}
    assert import_softmax(checkpoint, folder / "words.txt", folder) == 5
    assert (folder / "vocabulary.txt").read_text().split() == WORDS
    with h5py.File(folder / "softmax.hdf5") as file:
        np.testing.assert_array_equal(file["softmax/W"], np.arange(10).reshape(5, 2))
        np.testing.assert_array_equal(file["softmax/b"], -np.arange(5))


def test_sizes_that_differ_are_an_error(checkpoint: Path, folder: Path) -> None:
    (folder / "words.txt").write_text("\n".join([*WORDS, "bakes"]) + "\n")
    with pytest.raises(InputError, match=r"expected the shapes \[\(6, 2\)"):
        import_softmax(checkpoint, folder / "words.txt", folder)
    assert not (folder / "softmax.hdf5").exists()


@pytest.mark.parametrize("suffix", ["index", "data-00000-of-00001"])
def test_damaged_checkpoint_is_an_error(suffix: str, checkpoint: Path, folder: Path) -> None:
    """Truncated anywhere, or with any byte of the index changed to 255, it gives values or one `InputError`."""
    file = Path(f"{checkpoint}.{suffix}")
    content = file.read_bytes()
    for place in range(len(content)):
        for damaged in (content[:place], content[:place] + b"\xff" + content[place + 1 :]):
            file.write_bytes(damaged)
            try:
                assert TensorFlowCheckpoint(checkpoint).tensor("lm/softmax/W").dtype == np.float32
            except InputError as error:
                assert "model.ckpt-1" in str(error)


def variable(dataset: str) -> str:
    """The name of bilm-tf, whose `dump_weights` renames it to that of the dataset."""
    name = re.sub("/RNN/MultiRNNCell/Cell(.)/LSTMCell/", r"/rnn/multi_rnn_cell/cell_\1/lstm_cell/", f"lm/{dataset}")
    return re.sub("/B$", "/bias", name.replace("W_P_0", "projection/kernel").replace("W_0", "kernel"))


def test_accumulators_are_those_with_which_adagrad_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    sums = exported(tmp_path / "sums", WORDS)  # stands for the accumulators, in the layout of the official files
    values = {name: array for file in ("weights", "softmax") for name, array in arrays(tmp_path / f"sums/{file}.hdf5")}
    stored = {variable(name) + "/Adagrad": value for name, value in values.items()}
    stored |= {f"lm/{name}": value for name, value in values.items() if name.startswith("softmax")}
    assert "lm/RNN_1/rnn/multi_rnn_cell/cell_0/lstm_cell/projection/kernel/Adagrad" in stored
    checkpoint = Mock(entries=stored, tensor=stored.get)
    monkeypatch.setattr("elmo_tasks.pretraining.tf_checkpoint.TensorFlowCheckpoint", lambda _: checkpoint)
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
