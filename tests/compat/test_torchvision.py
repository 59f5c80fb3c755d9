"""The stand-in for torchvision, which is used only without a working torchvision."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import allennlp
import pytest

from elmo_tasks import compat

SITE = Path(compat.__file__).parent / "site"


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of the source tree, with torchvision not imported."""
    before = {n: m for n, m in sys.modules.items() if n.split(".")[0] == "torchvision"}
    for name in before:
        del sys.modules[name]
    monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if type(f).__name__ != "TorchvisionFinder"])
    path = SITE / "elmo_tasks_torchvision.py"
    spec = importlib.util.spec_from_file_location("stand_in_under_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in [n for n in sys.modules if n.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    sys.modules.update(before)


def real_torchvision(folder: Path, body: str) -> Path:
    package = folder / "torchvision"
    (package / "ops").mkdir(parents=True)
    (package / "ops" / "__init__.py").write_text("")
    (package / "ops" / "boxes.py").write_text("nms = 'real'\n")
    (package / "__init__.py").write_text(body)
    return folder


def test_stand_in_where_no_torchvision_is_installed(stand_in: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    boxes = importlib.import_module("torchvision.ops.boxes")
    assert not hasattr(boxes, "nms")
    with pytest.raises(AttributeError, match=r"torchvision\.ops\.boxes\.nms: .* stand-in"):
        _ = boxes.nms


def test_every_import_of_torchvision_in_allennlp_has_a_stand_in(stand_in: ModuleType) -> None:
    found = {
        line.split()[1]
        for path in Path(allennlp.__path__[0]).rglob("*.py")
        for line in path.read_text().splitlines()
        if line.strip().startswith(("import torchvision", "from torchvision"))
    }
    assert found and found <= set(stand_in.STAND_INS)


def test_real_torchvision_is_used(stand_in: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = real_torchvision(tmp_path, "import torchvision.ops.boxes\n")
    monkeypatch.setattr(sys, "path", [str(real)])
    torchvision = importlib.import_module("torchvision")
    assert torchvision.ops.boxes.nms == "real"
    assert torchvision.__spec__.loader.get_filename("torchvision").endswith("__init__.py")


def test_real_torchvision_that_fails_is_replaced_with_a_warning(
    stand_in: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = "import torchvision.ops\nraise RuntimeError('operator torchvision::nms does not exist')"
    monkeypatch.setattr(sys, "path", [str(real_torchvision(tmp_path, broken)), *sys.path])
    with pytest.warns(UserWarning, match=r"does not work here \(operator torchvision::nms"):
        boxes = importlib.import_module("torchvision.ops.boxes")
    assert not hasattr(boxes, "nms")
