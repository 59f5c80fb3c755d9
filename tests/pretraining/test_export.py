"""A trained language model -> official files -> AllenNLP's ELMo, and back."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import export_run, load_trained
from tests.disk import file_size_limit
from tests.pretraining import toy


@pytest.fixture
def run(tmp_path: Path) -> Path:
    toy.fake_run(tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def exported(run: Path, tmp_path: Path) -> Path:
    export_run(run, tmp_path / "exported")
    return tmp_path / "exported"


def test_an_export_without_its_softmax(exported: Path) -> None:
    (exported / "softmax.hdf5").unlink()
    with pytest.raises(InputError, match=r"missing: softmax.hdf5"):
        load_trained(exported)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("best.th", None, "with best.th"),
        (
            "config.json",
            '{"model": {"type": "basic_classifier"}}',
            "got basic_classifier",
        ),
        (
            "vocabulary/words.txt",
            "<S>\n</S>\n<UNK>\na\n",
            "best.th: it does not have this model's weights",
        ),
    ],
)
def test_invalid_runs(
    run: Path, tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    if content is None:
        (run / name).unlink()
    else:
        (run / name).write_text(content)
    with pytest.raises(InputError, match=message):
        export_run(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"softmax/W": np.zeros((4, 12))}, "softmax/W of shape"),
        ({"softmax/b": np.zeros(4)}, "the softmax cannot be read"),
        (
            {"softmax/W": np.full((len(toy.WORDS) + 3, 12), np.nan)},
            "expected finite numbers in softmax/W",
        ),
    ],
)
def test_invalid_softmax_files(
    exported: Path, values: dict[str, Any], message: str
) -> None:
    with h5py.File(exported / "softmax.hdf5", "w") as file:
        for name, array in values.items():
            file[name] = array
    with pytest.raises(InputError, match=message):
        load_trained(exported)


OTHERS = {
    "options.json": '{"theme": "dark"}',
    "vocabulary.txt": "apple\nbanana\n",
    "weights.hdf5": "precious",
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_something_else_stay(name: str, run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(OTHERS[name])
    with pytest.raises(InputError, match=f"out: expected a folder without {name}"):
        export_run(run, tmp_path / "out")
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == [OTHERS[name]]


def test_an_export_that_was_killed_is_repeated(exported: Path, run: Path) -> None:
    for name in ("softmax.hdf5", "vocabulary.txt", "weights.hdf5"):
        (exported / name).unlink()
    export_run(run, exported)
    load_trained(exported)


@pytest.mark.parametrize("limit", [0, 100, 5_000, 10_000])
def test_a_full_disk_leaves_an_older_export(
    run: Path, tmp_path: Path, limit: int
) -> None:
    out = tmp_path / "out"
    export_run(run, out)
    (out / "card.md").write_text("kept")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert max(map(len, before.values())) > limit
    with (
        file_size_limit(limit),
        pytest.raises(InputError, match=r"cannot write: File too large"),
    ):
        export_run(run, out, mantissa_bits=3)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
