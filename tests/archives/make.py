"""
Train a tiny self-contained archive for each task and store its predictions: `python -m tests.archives.make`, in the
root of the project.

Stored archives are never replaced, so that tests show whether archives of earlier versions still load. Only a new
`TaskModel._version` needs a new folder.
"""

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive
from allennlp.predictors import Predictor

import elmo_tasks.plugin  # noqa: F401 - registers what configs name
import tests.coref.test_model as coref
import tests.snli.test_model as snli
import tests.sst.test_model as sst
import tests.tagging.test_ner_model as ner
from elmo_tasks.formats.ontonotes import read_documents
from elmo_tasks.tasks.task_model import TaskModel
from tests.squad import samples as squad
from tests.srl import samples as srl
from tests.tiny import ROOT, bilm_files

STORED = Path(__file__).parent
EXPECTED = "predictions.json"
STORY = next(read_documents(coref.STORIES))
SENTENCE = {"sentence": "Captain Oakes said that Mira sold the old ferry ."}
TASKS: dict[str, tuple[dict[str, Any], Path, dict[str, Any]]] = {
    "ner": (ner.TINY, ner.FIXTURE, SENTENCE),
    "snli": (snli.TINY, snli.FIXTURE, {"premise": "A man leans on a fence.", "hypothesis": "A man rests."}),
    "sst": (sst.TINY, sst.FIXTURE, {"tokens": ["The", "ferry", "ran", "on", "time", "."]}),
    "srl": (srl.TINY, srl.FIXTURES, SENTENCE),
    "squad": (
        squad.TINY,
        squad.FIXTURES / "train-v1.1.json",
        {"passage": "The ferry left in May. Mira sold it.", "question": "Who sold it?", "id": "q"},
    ),
    "coref": (coref.TINY, coref.STORIES, {"sentences": [list(sentence.words) for sentence in STORY.sentences]}),
}
"""The model, training data and an input of each task."""


def make(folder: Path) -> None:
    """Write the archives and the predictions."""
    folder.mkdir()
    found = {}
    for task, (_, _, given) in TASKS.items():
        archive = folder / f"{task}.tar.gz"
        with TemporaryDirectory() as run:
            train_model(Params(config(task, Path(run) / "bilm")), Path(run) / "run")
            shutil.copy(Path(run) / "run" / "model.tar.gz", archive)
        found[task] = {"input": given, "output": prediction(archive, given)}
    (folder / EXPECTED).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


def config(task: str, bilm: Path) -> dict[str, Any]:
    """A short training."""
    model, data, _ = TASKS[task]
    elmo = {**bilm_files(bilm), "at": "both", "mix": "weighted", "archive": True}
    return {
        "dataset_reader": {"type": f"elmo_tasks_{task}"},
        "train_data_path": str(data.relative_to(ROOT)),
        "model": {**model, "elmo": elmo},
        "data_loader": {"batch_size": 1 if task == "coref" else 4, "shuffle": True},
        "trainer": {
            "type": "elmo_tasks",
            "num_epochs": 300 if task == "coref" else 40,
            "optimizer": {"type": "adam", "lr": 0.02},
            "cuda_device": -1,
            "run_confidence_checks": False,
        },
    }


def prediction(archive: Path, given: dict[str, Any]) -> Any:
    """The output of the archive's predictor."""
    predictor = Predictor.from_archive(load_archive(archive))
    return json.loads(predictor.dump_line(predictor.predict_json(given)))


if __name__ == "__main__":
    make(STORED / str(TaskModel._version))
