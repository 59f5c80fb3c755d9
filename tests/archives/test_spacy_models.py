"""
Trained models of our own classes are scored without spaCy, whose import takes a second.
"""

import json
from pathlib import Path

import pytest

from tests.archives.make import STORED
from tests.hiding import python
from tests.tiny import SAMPLES

pytestmark = pytest.mark.slow

EVALUATE = """
import sys
from elmo_tasks.cli.main import run
run(["evaluate", {archive!r}, {data!r}, "--output-file", "scores.json"])
print("spacy" in sys.modules)
"""


def test_evaluate_does_not_import_spacy(tmp_path: Path) -> None:
    archive = str(STORED / "1" / "ner.tar.gz")
    code = EVALUATE.format(archive=archive, data=str(SAMPLES["ner"]))
    assert python(code, tmp_path).splitlines()[-1] == "False"
    assert "f1" in json.loads((tmp_path / "scores.json").read_text())
