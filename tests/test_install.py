"""The wheel in a fresh environment, and the declared dependencies."""

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


def environment(home: Path) -> Path:
    """The interpreter of a fresh environment with access to the packages of the current one."""
    venv.create(home, with_pip=False, symlinks=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "zz_behind.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "python"


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel."""
    interpreter = environment(tmp_path_factory.mktemp("environment"))
    target = ["--python", str(interpreter), "install", "--quiet", "--no-deps", "--no-index"]
    command = [sys.executable, "-m", "pip", *target, str(wheel)]
    subprocess.run(command, check=True, capture_output=True, text=True)
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
    sources = [*(ROOT / "elmo_tasks").rglob("*.py"), ROOT / "elmo_tasks/torchvision_stub/pyproject.toml"]
    embedded = [*fixtures, *(p for p in (ROOT / "training_config").rglob("*") if p.is_file())]
    expected = {f"elmo_tasks/_files/{p.relative_to(ROOT)}" for p in embedded}
    expected |= {str(p.relative_to(ROOT)) for p in sources}
    expected |= {
        "elmo_tasks/py.typed",
        "elmo_tasks/experiments/tables/report.html.jinja",
        "elmo_tasks/pretraining/card.md.jinja",
    }
    package = ROOT / "elmo_tasks"
    others = [*package.glob("tasks/*/examples.json"), *package.glob("web/static/*")]
    expected |= {str(p.relative_to(ROOT)) for p in others}
    kept = {name for name in names if ".dist-info/" not in name}
    assert kept == expected
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_command_works_from_another_folder(python: Path, elsewhere: Path) -> None:
    script = str(python.with_name("elmo-tasks"))
    status, shown, errors = run(python, elsewhere, script, "elmo", "sentences.txt", "b.hdf5", "--force")
    assert (status, (elsewhere / "b.hdf5").is_file()) == (0, True), errors
    assert "Warning" not in shown + errors


def test_configs_are_installed_with_the_corpus(python: Path, elsewhere: Path) -> None:
    script = str(python.with_name("elmo-tasks"))
    status, shown, errors = run(python, elsewhere, script, "check", "ner_elmo", "bilm_finetune")
    assert (status, shown.count(": no problems")) == (0, 2), shown + errors
    status, shown, errors = run(python, elsewhere, script, "ablate", "demo", "-s", "demo", "--dry-run")
    assert (status, "2 runs" in shown) == (0, True), shown + errors


SNAPSHOT = """
import builtins, os, sys, warnings
from allennlp.common import plugins
print(sorted(vars(builtins)), builtins.__import__, sys.meta_path, sys.path_hooks, sys.excepthook, warnings.filters)
print(sorted(os.environ), plugins.DEFAULT_PLUGINS, sorted(sys.modules))
"""


def test_an_installation_changes_nothing_in_other_programs(python: Path, elsewhere: Path, tmp_path: Path) -> None:
    status, shown, errors = run(python, elsewhere, "-c", SNAPSHOT)
    assert status == 0, errors
    without = run(environment(tmp_path), elsewhere, "-c", SNAPSHOT)[1]
    assert re.sub("0x[0-9a-f]+", "", shown) == re.sub("0x[0-9a-f]+", "", without)


def test_user_errors_have_no_traceback(python: Path, elsewhere: Path) -> None:
    status, _, errors = run(python, elsewhere, "-m", "elmo_tasks", "elmo", "missing.txt", "c.hdf5")
    assert status == 1 and errors.splitlines()[-1].startswith("error: missing.txt: "), errors
    assert "Traceback" not in errors


def test_every_requirement_has_an_exact_version() -> None:
    pinned = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and line[0] != "#"]
    assert [line for line in pinned if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *extras["tasks"], *extras["web"], *extras["dev"], "allennlp"]
    names = [{re.split("[<>=]", line)[0].lower().replace("_", "-") for line in lines} for lines in (declared, pinned)]
    assert names[0] - names[1] == set()
