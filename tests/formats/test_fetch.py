"""Models by path, URL, ZIP and name."""

import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.cli.main import run
from elmo_tasks.elmo import Elmo, ElmoVectors
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.source_types import SourceSettings
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import file_sha256, local_path, model_path
from elmo_tasks.formats.models import MODELS, PublishedModel
from elmo_tasks.pretraining.export import load_start
from tests.elmo.samples import random_bilm, write_bilm
from tests.elmo.transformer_samples import write_transformer

TEXT = ["The harbour froze over .", "one"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/elmo_tasks"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A biLM as the NLPL repository has them, in `204` and `204.zip`, and as AllenNLP has them, in `web`."""
    (tmp_path / "204").mkdir()
    (tmp_path / "web").mkdir()
    options, weights = map(Path, write_bilm(tmp_path / "204"))
    (tmp_path / "web/x_options.json").write_bytes(options.read_bytes())
    (tmp_path / "web/x_weights.hdf5").write_bytes(weights.read_bytes())
    weights.rename(tmp_path / "204/model.hdf5")
    (tmp_path / "204/vocab.txt").write_text("the\n")
    (tmp_path / "204/meta.json").write_text("{}")
    with zipfile.ZipFile(tmp_path / "204.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for file in (tmp_path / "204").iterdir():
            packed.write(file, file.name)
        packed.writestr("../../escaped.json", "{}")
        packed.writestr("__MACOSX/._model.hdf5", "a resource fork")
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[ThreadingHTTPServer]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def embedded(model: str | Path, **options: str) -> np.ndarray:
    return Elmo.from_pretrained(model, **options).embed(TEXT)[0]


def test_a_bilm_is_taken_from_folder_zip_and_files(folder: Path) -> None:
    expected = Elmo(Layers(random_bilm())).embed(TEXT)[0]
    for model in ("204", "204.zip", "web"):
        assert np.array_equal(embedded(folder / model), expected)
    assert np.array_equal(
        embedded(
            folder / "204/model.hdf5", options_file=str(folder / "204/options.json")
        ),
        expected,
    )
    assert load_start(str(folder / "204.zip"))[0].options == random_bilm().options
    (folder / "in.txt").write_text("The harbour froze over .\n")
    run(
        [
            "elmo",
            str(folder / "in.txt"),
            str(folder / "out"),
            "--weight-file",
            str(folder / "204.zip"),
        ]
    )
    assert np.allclose(ElmoVectors(folder / "out")[0], expected, atol=1e-6)
    opened = Layers.open(SourceSettings(weight_file=folder / "204.zip"))
    state = opened.opened_files().to_state()
    assert {file["given"] for file in state["files"].values()} == {
        str(folder / "204.zip")
    }
    assert [file.parent.parent.name for file in folder.rglob("escaped.json")] == [
        "unpacked"
    ]
    assert not list(folder.rglob("._*"))


def test_saved_models_are_read_again(folder: Path) -> None:
    elmo = Elmo.from_pretrained(folder / "204.zip")
    elmo.save(folder / "saved")
    assert (
        file_sha256(folder / "saved/weights.hdf5")
        == elmo.layers.opened_files().weight_file.sha256
    )
    assert np.array_equal(embedded(folder / "saved"), elmo.embed(TEXT)[0])
    Elmo(Layers(elmo.layers.source)).save(folder / "again")
    assert np.array_equal(embedded(folder / "again"), elmo.embed(TEXT)[0])
    other = Elmo.from_pretrained(write_transformer(folder / "bert"))
    other.save(folder / "other")
    assert np.array_equal(embedded(folder / "other"), other.embed(TEXT)[0])
    stale = Elmo.from_pretrained(folder / "saved")
    write_bilm(folder / "saved", seed=4)
    with pytest.raises(
        InputError, match=r"weights\.hdf5: the file has changed since it was opened"
    ):
        stale.save(folder / "stale")
    assert not (folder / "stale").exists()


@pytest.mark.slow
def test_names_and_urls_are_downloaded_once(
    folder: Path,
    server: ThreadingHTTPServer,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = f"http://127.0.0.1:{server.server_port}"
    weights = folder / "web/x_weights.hdf5"
    files = (
        f"{address}/web/x_options.json",
        f"{address}/web/x_weights.hdf5#sha256={file_sha256(weights)}",
    )
    monkeypatch.setitem(MODELS, "elmo-small", PublishedModel("English", "", files))
    zipped = f"{address}/204.zip#sha256={file_sha256(folder / '204.zip')}"
    expected = embedded(folder / "204")
    with (
        monkeypatch.context() as patched,
        pytest.raises(
            InputError, match=r"cannot fetch http.*expected \d+ bytes, got 9"
        ),
    ):
        patched.setattr(
            SimpleHTTPRequestHandler,
            "copyfile",
            lambda _, source, out: out.write(source.read(9)),
        )
        embedded(zipped)
    with pytest.raises(
        InputError, match=r"cannot fetch http://127.0.0.1:\d+/gone.zip: HTTP Error 404"
    ):
        embedded(f"{address}/gone.zip")
    with pytest.raises(InputError, match="expected sha256=0+, got"):
        local_path(f"{address}/204.zip#sha256={'0' * 64}")
    for _ in range(2):
        assert np.array_equal(embedded("elmo-small"), expected) and np.array_equal(
            embedded(zipped), expected
        )
        server.shutdown()
    assert not [path for path in cache.rglob("*") if path.name.endswith(".tmp")]


def test_errors(folder: Path) -> None:
    with pytest.raises(
        InputError,
        match="elmo-orginal: no such model .nearest: elmo-original; .*`elmo-tasks models`",
    ):
        Elmo.from_pretrained("elmo-orginal")
    with pytest.raises(
        InputError,
        match="options_file: expected null where weight_file is a whole model, got",
    ):
        Elmo.from_pretrained(folder / "204.zip", folder / "204/options.json")
    with pytest.raises(
        InputError,
        match=r"options_file: expected a path or URL with the weights .*model\.hdf5, which are no folder",
    ):
        Elmo.from_pretrained(folder / "204/model.hdf5")
    (folder / "204/model.hdf5").unlink()
    with pytest.raises(
        InputError, match=r"204: expected a biLM with weights\.hdf5 or model\.hdf5"
    ):
        Elmo.from_pretrained(folder / "204")


def bomb(file: Path) -> None:
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("model.hdf5", "w") as member,
    ):
        for _ in range(100):
            member.write(bytes(2**20))


def twice(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("a/model.hdf5", b"")
        packed.writestr("b/model.hdf5", b"")


@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (bomb, "unpacks to more than 100 times its size"),
        (twice, "has two members model.hdf5"),
        (lambda file: file.touch(), "not a zip file"),
    ],
)
def test_hostile_zips_are_one_error(
    write: Callable[[Path], None], problem: str, tmp_path: Path, cache: Path
) -> None:
    write(tmp_path / "x.zip")
    with pytest.raises(InputError, match=rf"x\.zip: .*{problem}"):
        model_path(str(tmp_path / "x.zip"))
    assert not list((cache / "unpacked").iterdir())


def test_the_list_of_models(capsys: pytest.CaptureFixture[str]) -> None:
    run(["models", "german"])
    assert capsys.readouterr().out.split()[:2] == ["manylangs-german", "German"]
