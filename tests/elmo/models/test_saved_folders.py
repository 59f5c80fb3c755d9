"""
Folders that a model is saved to: what is there stays and is read as before, or what is
saved is read; also where a process is killed or a call fails between two files.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import Format
from tests.elmo.manylangs.make import HERE as MANYLANGS
from tests.elmo.samples import random_bilm, write_bilm
from tests.elmo.sources.transformer_samples import write_transformer
from tests.killing import killed_at_event
from tests.tiny import contents

TEXT = ["The harbour froze over ."]
OTHER = 9
"""The seed of the model that is in a folder before another one is saved there."""


def official(folder: Path, options: str, weights: str) -> None:
    """A biLM in the official format under these names."""
    random_bilm(OTHER).save_files(folder / options, folder / weights)


def safetensors(folder: Path) -> None:
    random_bilm(OTHER).save_files(folder / "config.json", folder / "model.safetensors")


def transformer(folder: Path) -> None:
    write_transformer(folder, seed=OTHER)


def pickled_transformer(folder: Path) -> None:
    transformer(folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def manylangs(folder: Path, name: str) -> None:
    shutil.copytree(MANYLANGS / name, folder, dirs_exist_ok=True)


def file(name: str, text: str = "") -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_text(text)

    return write


def run(folder: Path) -> None:
    (folder / "config.json").write_text('{"model": {"type": "elmo_tasks_bilm"}}')
    (folder / "best.th").touch()


PRESENT: dict[str, Callable[[Path], None]] = {
    "nothing": lambda folder: None,
    "notes": file("notes.txt", "mine"),
    "official": lambda folder: official(folder, "options.json", "weights.hdf5"),
    "model.hdf5": lambda folder: official(folder, "options.json", "model.hdf5"),
    "released weights": file("elmo_x_weights.hdf5"),
    "safetensors": safetensors,
    "transformer": transformer,
    "pickled transformer": pickled_transformer,
    "config of a transformer": file("config.json", '{"model_type": "bert"}'),
    "tokenizer": file("added_tokens.json", "{}"),
    "manylangs": lambda folder: manylangs(folder, "both"),
    "token_embedder.pkl": file("token_embedder.pkl"),
    "vocabulary": file("vocabulary.txt", "the\n"),
    "softmax": file("softmax.hdf5"),
    "run": run,
    "other config": file("config.json", '{"a": 1}'),
    "folder weights.hdf5": lambda folder: (folder / "weights.hdf5").mkdir(),
}

SAVED: dict[str, Format | None] = {
    "hdf5": "hdf5",
    "safetensors": "safetensors",
    "transformer": None,
    "manylangs": None,
}
"""What is saved, and its format."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Elmo]:
    """An opened model for each name in `SAVED`."""
    root = tmp_path_factory.mktemp("models")
    for name in ("bilm", "transformer", "manylangs"):
        (root / name).mkdir()
    write_bilm(root / "bilm")
    write_transformer(root / "transformer")
    manylangs(root / "manylangs", "characters")
    opened = {}
    for name in SAVED:
        folder = root / name
        if not folder.exists():
            folder = root / "bilm"
        opened[name] = Elmo.from_pretrained(folder, device="cpu")
    return opened


def vectors(folder: Path) -> np.ndarray:
    found: np.ndarray = Elmo.from_pretrained(folder, device="cpu").embed(TEXT)[0]
    return found


@pytest.mark.parametrize("saved", SAVED)
@pytest.mark.parametrize("present", PRESENT)
def test_what_is_saved_is_read_or_nothing_is_changed(
    present: str, saved: str, models: dict[str, Elmo], tmp_path: Path
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    PRESENT[present](target)
    before = contents(target)
    elmo = models[saved]
    try:
        elmo.save_pretrained(target, format=SAVED[saved])
    except InputError as error:
        assert "\n" not in str(error)
        assert contents(target) == before
        assert present not in ("nothing", "notes")
        problem = "target: expected no files of another model, got "
        assert problem in str(error) or present == "folder weights.hdf5"
        return
    assert np.array_equal(vectors(target), elmo.embed(TEXT)[0])
    assert (present, saved) != ("tokenizer", "transformer")
    after = contents(target)
    kept = before.keys() - after.keys()
    assert not kept and not [name for name in after if name.endswith(".tmp")]


@pytest.mark.parametrize("saved", SAVED)
def test_a_model_is_saved_over_one_of_its_kind(
    saved: str, models: dict[str, Elmo], tmp_path: Path
) -> None:
    models[saved].save_pretrained(tmp_path, format=SAVED[saved])
    models[saved].save_pretrained(tmp_path, format=SAVED[saved], language="la")
    assert np.array_equal(vectors(tmp_path), models[saved].embed(TEXT)[0])
    assert "| language | la |" in (tmp_path / "README.md").read_text()


def test_a_format_is_that_of_a_bilm_alone(
    models: dict[str, Elmo], tmp_path: Path
) -> None:
    """Also of ELMoForManyLangs, which is computed as a biLM."""
    for name in ("transformer", "manylangs"):
        with pytest.raises(InputError, match="format: expected None for the source"):
            models[name].save_pretrained(tmp_path / "out", format="hdf5")
    with pytest.raises(InputError, match="format: expected 'hdf5' or 'safetensors'"):
        models["hdf5"].save_pretrained(tmp_path / "out", format="pt")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def save(source: Path, target: Path, chosen: Format | None) -> None:
    Elmo.from_pretrained(source, device="cpu").save_pretrained(
        target, format=chosen, language="la"
    )


def write_two(root: Path, kind: str) -> tuple[Path, Path]:
    """
    Two models of a kind with the same shapes, of which the vectors differ, and also do
    those of the options of one with the weights of the other.
    """
    folders = root / "old", root / "new"
    for seed, folder in enumerate(folders):
        folder.mkdir()
        if kind == "transformer":
            write_transformer(folder, seed=seed)
            config = json.loads((folder / "config.json").read_text())
            config["layer_norm_eps"] = 10.0**-seed
            (folder / "config.json").write_text(json.dumps(config))
        else:
            write_bilm(folder, seed, use_skip_connections=bool(seed))
    return folders


@pytest.mark.slow
@pytest.mark.parametrize("saved", ["hdf5", "safetensors", "transformer"])
def test_a_save_that_is_killed(saved: str, tmp_path: Path) -> None:
    """At each change of a file: the old model is read, the new one, or none."""
    old, new = write_two(tmp_path, saved)
    expected = [vectors(old), vectors(new)]
    found = set()
    for number in range(1, 100):
        target = tmp_path / f"target{number}"
        save(old, target, SAVED[saved])
        code = killed_at_event(number, target, save, new, target, SAVED[saved])
        found.add(which(target, expected))
        save(new, target, SAVED[saved])
        assert which(target, expected) == "new"
        if code == 0:
            break
    else:
        raise AssertionError("expected a call that ends")
    assert found == {"old", "none", "new"}


def which(folder: Path, expected: list[np.ndarray]) -> str:
    """Which of two models a folder has; `none` if it ends in one clear error."""
    try:
        got = vectors(folder)
    except InputError as error:
        assert "\n" not in str(error)
        return "none"
    for name, one in zip(("old", "new"), expected, strict=True):
        if np.array_equal(got, one):
            return name
    raise AssertionError("expected the old or the new vectors, got a mix")
