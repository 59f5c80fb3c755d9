"""The biLM and the core of its training run without AllenNLP, spaCy and pydantic."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"allennlp", "spacy", "transformers", "cached_path", "pydantic"}:
            raise ModuleNotFoundError(f"blocked: {name}")

sys.meta_path.insert(0, Blocker())
from elmo_tasks.bilm import BiLM, BiLMOptions, batch_to_ids
from elmo_tasks.elmo import scalar_mix, sources
from elmo_tasks.pretraining import language_model, softmax, stream, vocabulary

bilm = BiLM(BiLMOptions(filters=((1, 2),), dim=4, projection_dim=3))
print(list(bilm(batch_to_ids([["a", "b"]])).layers.shape), "torch._dynamo" in sys.modules)
try:
    from elmo_tasks.elmo import ElmoTokenEmbedder
except ModuleNotFoundError as error:
    print(error)
"""


def test_the_bilm_needs_no_allennlp() -> None:
    command = [sys.executable, "-W", "error::ImportWarning", "-c", PROGRAM]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[:2] == ["[3, 1, 2, 6] False", "blocked: allennlp"]
