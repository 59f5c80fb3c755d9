"""
AllenNLP can be imported without torchvision, which other packages do not find
afterwards, either.
"""

import shutil
from pathlib import Path

import pytest

from tests.archives.make import STORED
from tests.hiding import MISSING, python, with_broken_torchvision

pytestmark = pytest.mark.slow

NER = STORED / "1" / "ner.tar.gz"

WHAT_OTHERS_SEE = """
import importlib.util, sys

from transformers.utils import is_torchvision_available

print(importlib.util.find_spec("torchvision"), is_torchvision_available())
try:
    import torchvision
except (ImportError, RuntimeError) as error:
    print(type(error).__name__)
print(sorted(set(sys.modules) & {"torchvision", "torchvision.ops", "torchvision.ops.boxes"}))
"""

FIRST = {
    "plugin": "import elmo_tasks.plugin",
    "nn": "from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder",
    "language model": "import elmo_tasks.pretraining.components.data_loader",
    "command": """
from elmo_tasks.cli.main import run
try:
    run(["check", "ner"])
except SystemExit as end:
    print(end.code)
""",
    "spaCy": f"""
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("elmo_tasks", config={{"archive": {str(NER)!r}}})
print(len(nlp("Captain Oakes sold the ferry .").ents) > 0)
""",
}
"""What is imported first in a fresh Python."""


@pytest.mark.parametrize("first", FIRST)
def test_without_torchvision(first: str, tmp_path: Path) -> None:
    shown = python(MISSING + FIRST[first] + "\n" + WHAT_OTHERS_SEE, tmp_path)
    assert shown.splitlines()[-3:] == ["None False", "ModuleNotFoundError", "[]"]


def test_with_one_for_another_torch(tmp_path: Path) -> None:
    code = FIRST["spaCy"] + WHAT_OTHERS_SEE
    variables = with_broken_torchvision(tmp_path / "broken")
    shown = python(code, tmp_path, **variables).splitlines()
    assert shown[-2:] == ["RuntimeError", "[]"] and shown[0] == "True"


AS_ALLENNLP = """
import sys
try:
    import torchvision
except ImportError as error:
    print("alone:", error)
sys.argv = ["allennlp", "train", "--help"]
from allennlp.__main__ import run
run()
"""


def test_the_installed_stub_is_for_allennlp_alone(tmp_path: Path) -> None:
    """Its program imports torchvision before the plugin."""
    root = Path(__file__).parents[1]
    variables = {"PYTHONPATH": f"{root}/torchvision_stub:{root}"}
    shown = python(AS_ALLENNLP, tmp_path, **variables)
    assert "alone: this torchvision is empty" in shown
    assert "--include-package" in shown


def test_a_real_torchvision_has_precedence_over_the_stub(tmp_path: Path) -> None:
    """Both are installed into one folder."""
    shutil.copy(Path(__file__).parents[1] / "torchvision_stub/torchvision.py", tmp_path)
    real = tmp_path / "torchvision" / "__init__.py"
    real.parent.mkdir()
    real.touch()
    code = "import torchvision; print(torchvision.__file__)"
    assert python(code, tmp_path, PYTHONPATH=str(tmp_path)).strip() == str(real)


SOUND = """
import sys, types
for name in ("torchvision", "torchvision.ops", "torchvision.ops.boxes"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
before = sys.modules["torchvision"]
import elmo_tasks.plugin
print(sys.modules["torchvision"] is before)
"""


def test_a_torchvision_that_works_is_used(tmp_path: Path) -> None:
    shown = python("import importlib.machinery" + SOUND, tmp_path)
    assert shown.splitlines()[-1] == "True"


NEWER_TRANSFORMERS = """
import torch, transformers
transformers._class_to_module.pop("AdamW", None)  # as from 4.50 on
assert not hasattr(transformers, "AdamW")

import elmo_tasks.plugin
print(hasattr(transformers, "AdamW"))

from allennlp.common import Params
from allennlp.training.optimizers import Optimizer
weights = [("weight", torch.nn.Parameter(torch.zeros(2)))]
for name in ("adamw", "huggingface_adamw"):
    try:
        made = Optimizer.from_params(Params({"type": name}), model_parameters=weights)
        print(type(made).__name__)
    except ValueError as error:
        print(error)
"""


def test_without_an_optimizer_that_transformers_has_removed(tmp_path: Path) -> None:
    shown = python(NEWER_TRANSFORMERS, tmp_path).splitlines()
    assert shown == [
        "False",
        "AdamWOptimizer",
        "the optimizer huggingface_adamw needs transformers before 4.50 (use the optimizer adamw, which is PyTorch's)",
    ]


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        (
            "allennlp",
            "this needs the package allennlp (pip install 'elmo-tasks[tasks]'",
        ),
        ("transformers", "this needs the package transformers (pip install "),
    ],
)
def test_missing_packages_are_one_line(
    hidden: str, message: str, tmp_path: Path
) -> None:
    code = (
        MISSING.replace('"torchvision"', repr(hidden))
        + """
from elmo_tasks.errors import InputError
try:
    import elmo_tasks.plugin
except InputError as error:
    print(error)
"""
    )
    assert python(code, tmp_path).startswith(message)


def test_a_package_of_another_version_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "transformers").mkdir()
    (tmp_path / "transformers" / "__init__.py").write_text("__version__ = '5.0'\n")
    code = """
from elmo_tasks.cli.main import main
main(["check", "ner"])
"""
    with pytest.raises(AssertionError, match="error: AllenNLP cannot be imported: .*"):
        variables = {"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[1]}"}
        python(code, tmp_path, **variables)
