"""`weights.hdf5`: exact and rounded round trips, and invalid files."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.system.files import file_sha256
from tests.elmo.samples import SENTENCES, mismatches, options, random_bilm, write_bilm
from tests.hdf5_elsewhere import ELSEWHERE, move

CELL = "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell"


def replace(file: h5py.File, name: str, values: np.ndarray) -> None:
    del file[name]
    file[name] = values


def layers(files: tuple[str, str]) -> torch.Tensor:
    return BiLM.from_files(*files)(batch_to_ids(SENTENCES)).layers


@pytest.mark.parametrize("which", ["zeros first", "unused last"])
def test_262_rows_mean_the_same_as_261(tmp_path: Path, which: str) -> None:
    files = write_bilm(tmp_path)
    expected = layers(files)

    with h5py.File(files[1], "r+") as file:
        rows = file["char_embed"][...]
        if which == "zeros first":
            longer = [np.zeros((1, 4), np.float32), rows]
        else:
            longer = [rows, np.full((1, 4), 7, np.float32)]
        replace(file, "char_embed", np.concatenate(longer))
    assert torch.equal(layers(files), expected)


def test_every_problem_is_listed_at_once(tmp_path: Path) -> None:
    files = write_bilm(tmp_path)
    with h5py.File(files[1], "r+") as file:
        del file["CNN/b_cnn_1"]
        replace(file, f"{CELL}/W_0", np.zeros((12, 44), np.float32))
        replace(file, "CNN_proj/b_proj", np.array([0, 0, np.nan, 0, 0, 0], np.float32))
        replace(file, "CNN_high_0/b_carry", np.zeros(23, np.int64))
        replace(file, "CNN_high_0/b_transform", np.full(23, 1e300))
        file["RNN_2/extra"] = np.zeros((2, 3), np.float32)
    assert mismatches(files) == [
        "missing: CNN/b_cnn_1 (5,)",
        "not finite numbers: CNN_high_0/b_transform (float64)",
        "not finite numbers: CNN_proj/b_proj (float32)",
        "unused: RNN_2/extra (2, 3)",
        f"wrong shape: {CELL}/W_0: expected (12, 48), got (12, 44)",
        "wrong type: CNN_high_0/b_carry: expected floats, got int64",
    ]


def test_claimed_sizes_allocate_no_memory(tmp_path: Path) -> None:
    """Datasets of a terabyte each, of which nothing is there."""
    options_file, weight_file = write_bilm(tmp_path)
    with h5py.File(weight_file, "r+") as file:
        file.create_dataset("other", (2**38,), np.float32, chunks=True)
        del file["CNN_proj/b_proj"], file["CNN_proj/W_proj"]
        file.create_dataset("CNN_proj/W_proj", (2**20, 2**18), np.float32, chunks=True)
        file.create_dataset("CNN_proj/b_proj", (6,), f"S{2**30}", chunks=True)
    with pytest.raises(InputError) as error:
        BiLM.from_files(options_file, weight_file)
    for problem in (
        "unused: other (274877906944,)",
        "got (1048576, 262144)",
        "wrong type: CNN_proj/b_proj: expected floats, got |S",
    ):
        assert problem in str(error.value), problem


@pytest.mark.parametrize(
    ("dim", "problem"),
    [
        (
            10**4000,
            "lstm.dim: expected a number less than or equal to 1000000, got 1000",
        ),
        (
            10**6,
            r"the options describe 2.32e\+08 parameters, more than .*weights.hdf5 can hold",
        ),
    ],
)
def test_options_of_a_far_larger_bilm_are_rejected(
    tmp_path: Path, dim: int, problem: str
) -> None:
    """Before a module is created."""
    _, weight_file = write_bilm(tmp_path)
    more = options().to_dict()
    more["lstm"]["dim"] = dim
    (tmp_path / "more.json").write_text(json.dumps(more))
    with pytest.raises(InputError, match=f"more.json: {problem}"):
        BiLM.from_files(tmp_path / "more.json", weight_file)


@pytest.mark.parametrize("to", ELSEWHERE)
def test_external_values_are_rejected(tmp_path: Path, to: str) -> None:
    files = write_bilm(tmp_path)
    move(files[1], f"{CELL}/B", to)
    with pytest.raises(
        InputError,
        match=rf"(missing|not read): {CELL}/B",
    ):
        BiLM.from_files(*files)


def test_a_truncated_file(tmp_path: Path) -> None:
    files = write_bilm(tmp_path)
    Path(files[1]).write_bytes(Path(files[1]).read_bytes()[:5000])
    with pytest.raises(
        InputError,
        match="weights.hdf5: cannot read .* as HDF5: .*is the download complete",
    ):
        BiLM.from_files(*files)
    with pytest.raises(InputError, match="absent.hdf5: no such file"):
        BiLM.from_files(files[0], tmp_path / "absent.hdf5")


def test_a_round_trip_is_exact(tmp_path: Path) -> None:
    bilm = random_bilm(n_highway=3, use_skip_connections=False)
    sizes = [parameter.numel() for parameter in bilm.parameters()]
    assert bilm.options.n_parameters == sum(sizes)
    bilm.save_files(tmp_path / "o.json", tmp_path / "w.hdf5")
    again = BiLM.from_files(tmp_path / "o.json", tmp_path / "w.hdf5")
    assert again.options == bilm.options
    for before, after in zip(bilm.parameters(), again.parameters(), strict=True):
        assert torch.equal(before, after)
    again.save_files(tmp_path / "o2.json", tmp_path / "w2.hdf5")
    assert file_sha256(tmp_path / "w2.hdf5") == file_sha256(tmp_path / "w.hdf5")
