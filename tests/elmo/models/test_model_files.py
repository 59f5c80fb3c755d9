"""One name for a model: what it means, and what it must not mean."""

import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.files import files_of, resolve
from elmo_tasks.elmo.models.kinds import two_files
from elmo_tasks.elmo.sources.types import SOURCES, SourceSettings, register_source
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.fetch import NotAllowed
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from tests.elmo.manylangs.make import HERE as MANYLANGS
from tests.elmo.samples import SENTENCES, random_bilm
from tests.elmo.samples import write_bilm as write_files
from tests.elmo.sources.transformer_samples import write_transformer

FORMS = r"NAME, FOLDER, ZIP, URL, hf://OWNER/NAME or OPTIONS\.json\+WEIGHTS\.hdf5"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is empty; so is the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def write_bilm(folder: Path, seed: int = 3) -> tuple[str, str]:
    folder.mkdir(exist_ok=True)
    return write_files(folder, seed)


def write_manylangs(folder: Path) -> None:
    """With a file of the NLPL repository, which runs have, too."""
    shutil.copytree(MANYLANGS / "both", folder)
    (folder / "meta.json").write_text("{}")


def zipped(folder: Path, file: Path) -> str:
    with zipfile.ZipFile(file, "w") as packed:
        for path in folder.iterdir():
            packed.write(path, path.name)
    return str(file)


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("elmo-small", "https://allennlp.s3.amazonaws.com/models/elmo/.*_options.json"),
        ("nlpl-162", "http://vectors.nlpl.eu/repository/11/162.zip"),
        ("hf://me/model@v1/", "hf://me/model@v1"),
        (f"https://h/o.json?a=1#sha256={'0' * 64}+w.hdf5", "https://h/o.json"),
    ],
)
def test_what_would_be_fetched(model: str, address: str) -> None:
    """Nothing may be fetched, so that the error names what would be."""
    with pytest.raises(NotAllowed, match=address):
        resolve(model, offline=True)


def test_the_source_of_a_folder_and_of_its_zip(here: Path) -> None:
    write_bilm(here / "bilm")
    write_manylangs(here / "manylangs")
    write_transformer(here / "bert")
    kinds = {"bilm": "bilm", "manylangs": "manylangs", "bert": "transformer"}
    for name, kind in kinds.items():
        model = zipped(here / name, here / f"{name}.zip")
        expected = resolve(name)
        assert expected.kind == kind
        assert resolve(model).kind == kind
        for given in (name, Path(name), f"./{name}", str(here / name)):
            found = resolve(given)
            assert found.kind == kind and found.sha256 == expected.sha256
            assert found.name == str(given)
            for path in found.paths.values():
                assert path.is_absolute() and path.exists()


def test_a_bilm_in_safetensors_says_that_it_is_one(here: Path) -> None:
    """Its files are named as a transformer's."""
    Path("model").mkdir()
    random_bilm().save_files("model/config.json", "model/model.safetensors")
    assert resolve("model").kind == "bilm"
    pair = resolve("model/config.json+model/model.safetensors")
    assert pair.paths == resolve("model").paths
    assert Elmo.from_pretrained("model").layers.label == "biLM"


def test_the_bundled_model_has_a_name(here: Path) -> None:
    """The same model as without a name, also for what a training records of it."""
    expected = Layers.open(SourceSettings())
    assert expected.files is not None
    nowhere = {"options_file": "nowhere.json", "weight_file": "nowhere.hdf5"}
    for settings in ({}, {"source": "bilm"}, nowhere):
        found = Layers.open(SourceSettings.of({"model": "bundled", **settings}))
        assert found.files is not None
        assert found.files == expected.files
    vectors = Elmo.from_pretrained("bundled", device="cpu").embed(SENTENCES)[0]
    default = Elmo.from_pretrained(device="cpu").embed(SENTENCES)[0]
    assert np.array_equal(vectors, default)
    with pytest.raises(InputError, match="bundeld: no such model .nearest: bundled"):
        Elmo.from_pretrained("bundeld")
    write_bilm(here / "bundled")
    assert resolve("bundled").sha256 == expected.files.sha256
    assert resolve("./bundled").sha256 != expected.files.sha256


@pytest.mark.parametrize("model", ["elmo-orginal", "ELMo-Original", "elmo original"])
def test_the_nearest_name(model: str) -> None:
    hint = f"nearest: elmo-original; expected {FORMS}; .*`elmo-tasks models`"
    with pytest.raises(InputError, match=rf"{model}: no such model \({hint}"):
        Elmo.from_pretrained(model)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("", "model: expected a path that is not empty"),
        ("nowhere", f"no such model .expected {FORMS}"),
        ("nowhere.zip", "no such model"),
        ("bert/base", "model of the Hugging Face hub write hf://bert/base"),
        ("https://h/weights.hdf5?sig=1", f"expected {FORMS}, got one file"),
        ("hf://owner/name/weights.hdf5", "got one file"),
        ("weights.hdf5", "got one file"),
        ("empty", "expected the files of one model, got none .*; biLM: options.json"),
        ("run", "got none .`elmo-tasks bilm export` writes the biLM of a run"),
        ("two", "expected the files of one model, got biLM and transformer"),
        ("three", "expected one biLM, got a_weights.hdf5, b_weights.hdf5"),
        ("list", "the files of one model, got none"),
    ],
)
def test_what_names_no_model_is_one_line(model: str, problem: str, here: Path) -> None:
    Path("weights.hdf5").touch()
    for name in ("empty", "run", "three", "list"):
        Path(name).mkdir()
    write_bilm(here / "two")
    write_transformer(here / "two")
    Path("run/config.json").write_text('{"model": {}}')
    Path("run/best.th").touch()
    for name in ("a_options.json", "a_weights.hdf5", "b_weights.hdf5"):
        Path("three", name).touch()
    Path("list/config.json").write_text("[]")
    with pytest.raises(InputError, match=problem) as error:
        Elmo.from_pretrained(model)
    assert "\n" not in str(error.value)


def test_weights_of_another_format_do_not_hide_a_whole_model(here: Path) -> None:
    Elmo.from_files(*write_bilm(here / "official")).save_pretrained(
        "m", format="safetensors"
    )
    expected = Elmo.from_pretrained("m").embed(["a b"])[0]
    write_bilm(here / "other", seed=4)
    Path("other/weights.hdf5").rename("m/weights.hdf5")
    assert np.array_equal(Elmo.from_pretrained("m").embed(["a b"])[0], expected)
    Path("other/options.json").rename("m/options.json")  # both are whole
    assert not np.array_equal(Elmo.from_pretrained("m").embed(["a b"])[0], expected)


def found_in(text: str) -> tuple[str, ...] | None:
    pair = two_files(text)
    return None if pair is None else tuple(pair[1].values())


def test_the_files_of_a_bilm() -> None:
    expected = ("c++/o.json", "c++/w.hdf5")
    assert found_in("c++/o.json+c++/w.hdf5") == expected
    assert found_in("O.JSON+W.h5") == ("O.JSON", "W.h5")
    for text in ("o.json", "o.json+", "+w.hdf5", "o.json+w.json", "o.txt+w.hdf5"):
        assert two_files(text) is None


def test_files_that_are_given_one_by_one(here: Path) -> None:
    options_file, weight_file = write_bilm(here / "bilm")
    keys = {"options_file": options_file, "weight_file": weight_file}
    found = files_of(SourceSettings(**keys))
    assert found.sha256 == resolve("bilm").sha256
    os.mkfifo("pipe")
    for bad, problem in (
        ("absent.hdf5", "no such file: the biLM's weights .set model.elmo.weight_file"),
        ("pipe", "expected a file, the biLM's weights, got something else"),
    ):
        with pytest.raises(InputError, match=problem):
            files_of(
                SourceSettings(**{**keys, "weight_file": bad}), where="model.elmo."
            )


@pytest.fixture
def registered() -> Any:
    """A source of another package, whose code would run."""
    called: list[Path] = []

    @register_source("tests_code", files={"model": "what runs"})
    def load(model: Path) -> Any:
        called.append(model)
        return random_bilm()

    yield called
    del SOURCES["tests_code"]


def test_a_registered_source_is_never_inferred(
    here: Path, registered: list[Path]
) -> None:
    """Neither from files nor from what an archive says of itself."""
    write_transformer(here / "bert")
    run = here / "run"
    run.mkdir()
    record = {"kind": "tests_code", "name": "bert", "sha256": "0" * 64}
    record |= {"paths": {"model": "bert"}}
    (run / "model.json").write_text(json.dumps([record]))
    with pytest.raises(InputError, match="on another tests_code: .* got transformer"):
        ElmoTokenEmbedder.open(model="bert", run_folder=str(run))
    assert not registered
    ElmoTokenEmbedder.open(model="bert", source="tests_code")
    assert len(registered) == 1


def test_a_model_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was downloaded before; a revision is another model."""
    cached = tmp_path / "hub/models--me--model"
    (cached / "snapshots").mkdir(parents=True)
    (cached / "refs").mkdir()
    (cached / "refs/v1").write_text("1" * 40)
    write_manylangs(cached / "snapshots" / ("1" * 40))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for address in ("hf://me/model@v1", "hf://me/model@v1/"):
        assert resolve(address, offline=True).kind == "manylangs"
        assert ElmoTokenEmbedder.open(model=address).frozen.n_layers == 3
    with pytest.raises(InputError, match="cannot fetch hf://me/model: "):
        resolve("hf://me/model")
