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

from tests.tiny import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *options,
        "--wheel-dir",
        str(folder),
        ".",
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and access to the packages of the current one."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False, symlinks=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "zz_behind.pth").write_text(sysconfig.get_path("purelib") + "\n")
    target = [
        "--python",
        str(home / "bin" / "python"),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
    ]
    command = [sys.executable, "-m", "pip", *target, str(wheel)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return home / "bin" / "python"


def test_wheel_has_all_files(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    fixtures = [
        p
        for p in (ROOT / "fixtures").rglob("*")
        if p.is_file() and p.suffix not in (".py", ".pyc")
    ]
    sources = [
        *(ROOT / "elmo_tasks").rglob("*.py"),
        ROOT / "elmo_tasks/torchvision_stub/pyproject.toml",
    ]
    embedded = [
        *fixtures,
        *(p for p in (ROOT / "training_config").rglob("*") if p.is_file()),
    ]
    expected = {f"elmo_tasks/_files/{p.relative_to(ROOT)}" for p in embedded}
    expected |= {str(p.relative_to(ROOT)) for p in sources}
    expected |= {
        "elmo_tasks/py.typed",
        "elmo_tasks/experiments/tables/report.html.jinja",
    }
    package = ROOT / "elmo_tasks"
    others = [*package.glob("tasks/*/examples.json"), *package.glob("web/static/*")]
    expected |= {str(p.relative_to(ROOT)) for p in others}
    kept = {name for name in names if ".dist-info/" not in name}
    assert kept == expected
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_commands_work_from_another_folder(python: Path, tmp_path: Path) -> None:
    (tmp_path / "sentences.txt").write_text("She heard the play .\n")
    variables = {
        "HOME": str(tmp_path / "home"),
        "PATH": "/usr/bin:/bin",
        "OMP_NUM_THREADS": "1",
    }
    for arguments, expected in (
        (("elmo", "sentences.txt", "out.hdf5"), "out.hdf5: "),
        (("check", "ner_elmo", "bilm_finetune"), "bilm_finetune.jsonnet: no problems"),
    ):
        command = [str(python.with_name("elmo-tasks")), *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (
            done.returncode,
            expected in done.stdout,
            "Warning" in done.stdout + done.stderr,
        ) == (0, True, False)


def test_every_requirement_has_an_exact_version() -> None:
    pinned = [
        line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and line[0] != "#"
    ]
    assert [line for line in pinned if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, dev = settings["project"], settings["dependency-groups"]["dev"]
    extras = project["optional-dependencies"]
    declared = [
        *project["dependencies"],
        *extras["tasks"],
        *extras["web"],
        *dev,
        "allennlp",
    ]
    names = [
        {re.split(r"[\[<>=]", line)[0].lower().replace("_", "-") for line in lines}
        for lines in (declared, pinned)
    ]
    assert names[0] - names[1] == set()
