"""AllenNLP's imports of large packages are postponed, and everything still works."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

LAZY = "import elmo_tasks_plugin"
EAGER = "import elmo_tasks_plugin; elmo_tasks_plugin.LAZY = ('torchvision',)"

REGISTRY = """
import json, sys
from allennlp.common import Registrable
from allennlp.common.plugins import import_plugins
import_plugins()
names = {base.__name__: {name: base.by_name(name).__qualname__ for name in base.list_available()}
         for base in list(Registrable._registry)}
heavy = {"matplotlib", "nltk", "scipy", "sklearn", "spacy", "transformers", "wandb"} & sys.modules.keys()
print(json.dumps([names, sorted(heavy)]))
"""

USE = """
import json, pickle, torch
from allennlp.common import Params, file_utils
from allennlp.data import vocabulary
from allennlp.data.fields import TextField
from allennlp.modules.transformer import ActivationLayer
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.metrics import Auc
from allennlp.training.optimizers import Optimizer
weight = torch.nn.Parameter(torch.ones(2))
for name in ("huggingface_adamw", "huggingface_adamw", "huggingface_adafactor"):
    optimizer = Optimizer.from_params(Params({"type": name}), model_parameters=[["weight", weight]])
    weight.sum().backward()
    optimizer.step()
plain = torch.optim.SGD([weight], lr=1.0)
assert LearningRateScheduler.from_params(Params({"type": "constant"}), optimizer=plain).get_values() == [1.0]
import cached_path.file_lock, spacy, transformers
assert isinstance(optimizer, transformers.Adafactor)
assert vocabulary.FileLock("x").lock_file
assert file_utils.FileLock is vocabulary.FileLock is cached_path.file_lock.FileLock
auc = Auc()
auc(torch.tensor([0.1, 0.9]), torch.tensor([0, 1]))
text = TextField(list(spacy.blank("en")("a b")))
act = ActivationLayer(2, 2, "gelu")
assert pickle.loads(pickle.dumps(act)).act_fn is not None
print(json.dumps([auc.get_metric(), len(text), weight.lt(1).all().item()]))
"""


def run(*code: str) -> Any:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "elmo_tasks/compat/site")])
    command = [sys.executable, "-c", "\n".join(code)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_all_registered_names_resolve_without_heavy_imports() -> None:
    (names, heavy), (expected, imported) = run(LAZY, REGISTRY), run(EAGER, REGISTRY)
    assert heavy == [] and {"spacy", "transformers"} <= set(imported)
    assert names == expected and len(expected["Model"]) > 8


def test_postponed_objects_are_the_real_ones_when_used() -> None:
    assert run(LAZY, USE) == [1.0, 2, True]
