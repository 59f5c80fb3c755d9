"""The wheel in a fresh environment, and the make targets that build the environment."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

TAGGER = """
{
  dataset_reader: {type: "sequence_tagging"},
  train_data_path: "train.tsv",
  model: {
    type: "simple_tagger",
    text_field_embedder: {token_embedders: {tokens: {type: "embedding", embedding_dim: 2}}},
    encoder: {type: "pass_through", input_dim: 2},
  },
  data_loader: {batch_size: 2},
  trainer: {
    num_epochs: 1,
    optimizer: {type: "sgd", lr: 0.1},
    moving_average: {type: "elmo_tasks_exponential"},
  },
}
"""

NEEDS_DATA = """assert std.extVar("ELMO_TASKS_DATA") != "" : "ELMO_TASKS_DATA is not set"; {}"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(folder), "."]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel, and access to the packages of the current environment."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False, symlinks=True)
    interpreter = home / "bin" / "python"
    target = ["--python", str(interpreter), "install", "--quiet", "--no-deps", "--no-index"]
    command = [sys.executable, "-m", "pip", *target, str(wheel)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "zz_behind.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return interpreter


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside of the source tree with an empty home, so that there is no plugins file."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "home").mkdir()
    (folder / "sentences.txt").write_text("She heard the play .\n")
    (folder / "tagger.jsonnet").write_text(TAGGER)
    (folder / "needs_data.jsonnet").write_text(NEEDS_DATA)
    (folder / "train.tsv").write_text("the###D dog###N\na###D cat###N\n".replace(" ", "\t"))
    return folder


ALLENNLP = ("-m", "allennlp")


def start(
    python: Path, folder: Path, *arguments: str, program: tuple[str, ...] = ALLENNLP, **variables: str
) -> subprocess.Popen[str]:
    environment = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [str(python), *program, *arguments],
        cwd=folder,
        env=environment | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_wheel_has_all_files(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    fixtures = [p for p in (ROOT / "fixtures").rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")]
    sources = [p for p in (ROOT / "elmo_tasks").rglob("*.py") if p.parent.name != "site"]
    expected = {f"elmo_tasks/_fixtures/{p.relative_to(ROOT / 'fixtures')}" for p in fixtures}
    expected |= {str(p.relative_to(ROOT)) for p in sources}
    expected |= {"elmo_tasks/py.typed", "elmo_tasks/ablation/report.html.jinja"}
    expected |= {f"elmo_tasks_{name}.{ending}" for name in ("plugin", "torchvision") for ending in ("pth", "py")}
    kept = {name for name in names if ".dist-info/" not in name}
    assert kept == expected
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_plugin_works_from_another_folder(python: Path, elsewhere: Path) -> None:
    train = start(python, elsewhere, "train", "tagger.jsonnet", "-s", "out")
    shown, errors = train.communicate(timeout=120)
    assert train.returncode == 0, errors
    assert "Warning" not in shown + errors
    lines = [line.split(" - ")[-1] for line in shown.splitlines()]
    root = next((python.parents[1] / "lib").glob("*/site-packages/elmo_tasks/_fixtures"))
    settings = ["scale: mini (ELMO_TASKS_SCALE)", f"data root: {root / 'miniworld'} (ELMO_TASKS_DATA)"]
    assert lines[:2] == [line for line in lines if line.startswith(("scale:", "data root:"))] == settings
    assert (elsewhere / "out" / "model.tar.gz").is_file()


def test_our_command_works_from_another_folder(python: Path, elsewhere: Path) -> None:
    run = start(python, elsewhere, "elmo", "sentences.txt", "b.hdf5", program=(str(python.with_name("elmo-tasks")),))
    _, errors = run.communicate(timeout=120)
    assert (run.returncode, (elsewhere / "b.hdf5").is_file()) == (0, True), errors


def test_elmo_tasks_works_without_pth_files(python: Path, elsewhere: Path) -> None:
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    paths = os.pathsep.join([str(site), sysconfig.get_path("purelib")])  # `-S`: Python ignores .pth files
    run = start(python, elsewhere, "elmo", "--help", program=("-S", "-m", "elmo_tasks"), PYTHONPATH=paths)
    shown, errors = run.communicate(timeout=120)
    assert shown.startswith("usage: elmo-tasks elmo"), errors


def test_python_does_not_import_the_packages_at_start(python: Path, elsewhere: Path) -> None:
    program = ("-c", "import sys; print({'torch', 'allennlp', 'elmo_tasks'} & sys.modules.keys())")
    shown, errors = start(python, elsewhere, program=program).communicate(timeout=120)
    assert (shown, errors) == ("set()\n", "")


def test_user_errors_are_one_line(python: Path, elsewhere: Path) -> None:
    train = start(python, elsewhere, "train", "needs_data.jsonnet", "-s", "never", ELMO_TASKS_SCALE="small")
    _, errors = train.communicate(timeout=120)
    lines = [line for line in errors.splitlines() if " - INFO - " not in line]
    assert (train.returncode, lines) == (1, ["error: ELMO_TASKS_DATA is not set (at needs_data.jsonnet:1:1-78)"])
    assert not (elsewhere / "never").exists()


def requirements(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_declared_dependencies_are_the_requirements() -> None:
    needed = (ROOT / "requirements.txt").read_text().split("# Development\n")[0]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert requirements(needed) == project["dependencies"]


def test_every_requirement_has_an_exact_version() -> None:
    pinned = requirements((ROOT / "constraints.txt").read_text())
    assert [line for line in pinned if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    names = {line.split("==")[0].lower().replace("_", "-") for line in pinned}
    required = requirements((ROOT / "requirements.txt").read_text())
    declared = {re.split("[<>=]", line)[0].lower().replace("_", "-") for line in required}
    assert (declared | {"allennlp"}) - names == set()


@pytest.mark.parametrize(
    ("variables", "error"),
    [
        (("CANDIDATES=no-such-python", "PYTHON="), "no Python 3.11, 3.12 or 3.13 with venv and ensurepip found"),
        (("PYTHON=/bin/false",), "/bin/false is not a Python 3.11, 3.12 or 3.13"),
    ],
)
def test_make_without_a_suitable_python_says_so(variables: tuple[str, ...], error: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "install", "VENV=no_such_folder", *variables]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (run.returncode, f"error: {error}" in run.stderr) == (2, True)
    assert not (ROOT / "no_such_folder").exists()
