"""The wheel in a fresh environment, its page on an index, and its image."""

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.tiny import ROOT

pytestmark = pytest.mark.slow


def build(source: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--wheel-dir", str(folder), "."]
    command += ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    A fresh environment with the wheel and access to the packages of the current one.
    """
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False, symlinks=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "zz_behind.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python")]
    command += ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return home / "bin" / "python"


def test_wheel_has_all_files(wheel: Path) -> None:
    expected = set()
    for path in (ROOT / "elmo_tasks").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            expected.add(str(path.relative_to(ROOT)))
    for folder in ("fixtures", "training_config"):
        for path in (ROOT / folder).rglob("*"):
            is_data = (
                path.suffix not in (".py", ".pyc") and "generator" not in path.parts
            )
            if path.is_file() and is_data:
                expected.add(f"elmo_tasks/_files/{path.relative_to(ROOT)}")
    found = set()
    licenses = []
    for name in zipfile.ZipFile(wheel).namelist():
        if ".dist-info/licenses/" in name:
            licenses.append(Path(name).name)
        elif ".dist-info/" not in name:
            found.add(name)
    assert found == expected
    assert sorted(licenses) == ["LICENSE", "NOTICE"]


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
        done = subprocess.run(
            (str(python.with_name("elmo-tasks")),) + arguments,
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0
        assert expected in done.stdout
        assert "Warning" not in done.stdout + done.stderr


LINK = re.compile(r"\]\(([^)]+)\)|(?:src|href)=\"([^\"]+)\"")
OF_THE_REPOSITORY = re.compile(
    r"https://(?:raw\.githubusercontent|github)\.com/elmo-tasks/elmo-tasks/"
    r"(?:blob/)?v[\d.]+/([^#]+)"
)


def test_links_of_the_page_on_an_index(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith("/METADATA")]
        page = archive.read(name).decode()
    inside = 0
    for markdown, html in LINK.findall(page):
        link = markdown or html
        assert link.startswith(("https://", "#")), link
        found = OF_THE_REPOSITORY.fullmatch(link.partition("#")[0])
        if found is not None:
            assert (ROOT / found[1]).exists(), link
            inside += 1
    assert inside > 20


def test_the_image_has_the_files_of_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """The wheel of what the Dockerfile copies is the same."""
    copied = tmp_path / "src"
    copied.mkdir()
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY "):
            *sources, target = shlex.split(line)[1:]
            for pattern in sources:
                for path in ROOT.glob(pattern):
                    if path.is_dir():
                        shutil.copytree(path, tmp_path / target.strip("/"))
                    else:
                        shutil.copy(path, copied)
    image = build(copied, tmp_path)
    with zipfile.ZipFile(wheel) as expected, zipfile.ZipFile(image) as found:
        assert found.namelist() == expected.namelist()
    assert (copied / "requirements.txt").is_file()
