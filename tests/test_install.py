"""The wheel in a fresh environment, and the declared dependencies."""

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
    return folder


def run(python: Path, folder: Path, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr."""
    environment = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"} | variables
    command = [str(python), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_wheel_has_all_files(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    fixtures = [p for p in (ROOT / "fixtures").rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")]
    sources = [p for p in (ROOT / "elmo_tasks").rglob("*.py") if p.parent.name != "site"]
    expected = {f"elmo_tasks/_fixtures/{p.relative_to(ROOT / 'fixtures')}" for p in fixtures}
    expected |= {str(p.relative_to(ROOT)) for p in sources}
    expected |= {"elmo_tasks/py.typed", "elmo_tasks/ablation/report.html.jinja", "elmo_tasks/languages/card.md.jinja"}
    web = ROOT / "elmo_tasks" / "web"
    expected |= {str(p.relative_to(ROOT)) for p in [web / "examples.json", *(web / "static").glob("*")]}
    expected |= {"elmo_tasks_plugin.pth", "elmo_tasks_plugin.py"}
    kept = {name for name in names if ".dist-info/" not in name}
    assert kept == expected
    assert any(name.endswith("/licenses/LICENSE") for name in names)


@pytest.mark.parametrize("program", ["-m allennlp", "elmo-tasks"])
def test_command_works_from_another_folder(program: str, python: Path, elsewhere: Path) -> None:
    script = [str(python.with_name("elmo-tasks"))] if program == "elmo-tasks" else program.split()
    status, shown, errors = run(python, elsewhere, *script, "elmo", "sentences.txt", "b.hdf5", "--force")
    assert (status, (elsewhere / "b.hdf5").is_file()) == (0, True), errors
    assert "Warning" not in shown + errors


def test_user_errors_have_no_traceback(python: Path, elsewhere: Path) -> None:
    status, _, errors = run(python, elsewhere, "-m", "elmo_tasks", "elmo", "missing.txt", "c.hdf5")
    assert status == 1 and errors.splitlines()[-1].startswith("error: missing.txt: "), errors
    assert "Traceback" not in errors


def test_elmo_tasks_works_without_pth_files(python: Path, elsewhere: Path) -> None:
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    paths = os.pathsep.join([str(site), sysconfig.get_path("purelib")])  # `-S`: Python ignores .pth files
    _, shown, errors = run(python, elsewhere, "-S", "-m", "elmo_tasks", "elmo", "--help", PYTHONPATH=paths)
    assert shown.startswith("usage: elmo-tasks elmo"), errors


def test_python_does_not_import_the_packages_at_start(python: Path, elsewhere: Path) -> None:
    code = "import sys; print({'torch', 'allennlp', 'elmo_tasks'} & sys.modules.keys())"
    assert run(python, elsewhere, "-c", code) == (0, "set()\n", "")


def requirements(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_declared_dependencies_are_the_requirements() -> None:
    needed = requirements((ROOT / "requirements.txt").read_text().split("# Development\n")[0])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert needed == project["dependencies"] + project["optional-dependencies"]["tasks"]
    names = [re.split("[<>=]", line)[0] for line in needed]
    assert names[: len(project["dependencies"])] == ["torch", "numpy", "h5py"] and len(set(names)) == len(names)


def test_every_requirement_has_an_exact_version() -> None:
    pinned, required = (requirements((ROOT / f"{name}.txt").read_text()) for name in ("constraints", "requirements"))
    assert [line for line in pinned if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    names = {line.split("==")[0].lower().replace("_", "-") for line in pinned}
    declared = {re.split("[<>=]", line)[0].lower().replace("_", "-") for line in required}
    assert (declared | {"allennlp"}) - names == set()
