"""
The search of benchmarks/search.py with Optuna, on a small corpus. Tested in a separate
environment.
"""

import json
import re
from pathlib import Path

import pytest

from tests.docs.conftest import data_root, environment
from tests.system import output_of
from tests.tiny import FIXTURES, ROOT

optuna = pytest.importorskip("optuna", reason="tested by make test-adapters")

__all__ = ["data_root", "environment"]

CONFIG = """(import '%s/training_config/ner_elmo.jsonnet') {
  train_data_path: '%s',
  validation_data_path: '%s',
  trainer+: { num_epochs: 1 },
}"""


def recipe(config: Path, trials: int) -> str:
    """The script, with another config and number of trials."""
    changed = (ROOT / "benchmarks" / "search.py").read_text("utf-8")
    for name, value in (("CONFIG", str(config)), ("TRIALS", trials)):
        changed, count = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value!r}", changed)
        assert count == 1
    return changed


def test_a_search_goes_on_where_it_ended(
    environment: dict[str, str], tmp_path: Path
) -> None:
    sample = FIXTURES / "ner" / "eng.iob1"
    config = tmp_path / "tiny.jsonnet"
    config.write_text(CONFIG % (ROOT, sample, sample))
    printed = ""
    for trials in (2, 3):
        (tmp_path / "search.py").write_text(recipe(config, trials))
        printed = output_of(["python", "search.py"], tmp_path, environment)
    folder = tmp_path / "out" / "search"
    assert sorted(path.name for path in folder.glob("trial*")) == [
        "trial0",
        "trial1",
        "trial2",
    ]
    scores = {}
    changes = {}
    for place in range(3):
        run = folder / f"trial{place}"
        metrics = json.loads((run / "metrics.json").read_text())
        scores[place] = metrics["best_validation_f1"]
        trained = json.loads((run / "config.json").read_text())
        changes[place] = trained["trainer"]["optimizer"]["lr"]
    assert len(set(changes.values())) == 3
    last = printed.strip().splitlines()[-1]
    best = max(scores, key=lambda place: scores[place])
    assert f"{scores[best]:.3f}" in last
    given = json.loads(last.split(" -o ")[1].strip("'"))
    assert given["trainer.optimizer.lr"] in changes.values()
