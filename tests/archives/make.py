"""
Train a tiny self-contained archive for each task and store its predictions: `python -m
tests.archives.make 2`, in the root of the project.

The archives in folder 1 become those of the release 0.1.0. From then on stored archives
are never replaced, so that tests show whether archives of earlier releases still load:
each release that changes their contents adds a folder.
"""

import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from allennlp.commands.train import train_model
from allennlp.common import Params

import elmo_tasks.plugin
from elmo_tasks.formats.annotation.ontonotes import read_documents
from tests.tiny import ROOT, SAMPLES, bilm_files, tiny_model

STORED = Path(__file__).parent
EXPECTED = "predictions.json"
STORY = next(read_documents(SAMPLES["coref"]))
SENTENCE = {"sentence": "Captain Oakes said that Mira sold the old ferry ."}
INPUTS: dict[str, dict[str, Any]] = {
    "ner": SENTENCE,
    "snli": {"premise": "A man leans on a fence.", "hypothesis": "A man rests."},
    "sst": {"tokens": ["The", "ferry", "ran", "on", "time", "."]},
    "srl": SENTENCE,
    "squad": {
        "passage": "The ferry left in May. Mira sold it.",
        "question": "Who sold it?",
        "id": "q",
    },
    "coref": {"sentences": [list(sentence.words) for sentence in STORY.sentences]},
}
"""An input of each task."""


def make(folder: Path) -> None:
    """Write the archives and the predictions."""
    folder.mkdir()
    found = {}
    for task, given in INPUTS.items():
        archive = folder / f"{task}.tar.gz"
        with TemporaryDirectory() as run:
            train_model(Params(config(task, Path(run) / "bilm")), Path(run) / "run")
            shutil.copy(Path(run) / "run" / "model.tar.gz", archive)
        found[task] = {"input": given, "output": prediction(archive, given)}
    (folder / EXPECTED).write_text(
        json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )


def config(task: str, bilm: Path) -> dict[str, Any]:
    """A short training."""
    elmo = {**bilm_files(bilm), "at": "both", "mix": "weighted", "archive": True}
    return {
        "dataset_reader": {"type": f"elmo_tasks_{task}"},
        "train_data_path": str(SAMPLES[task].relative_to(ROOT)),
        "model": {**tiny_model(task), "elmo": elmo},
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
    predictor = elmo_tasks.load(archive)
    return json.loads(predictor.dump_line(predictor.predict(**given)))


if __name__ == "__main__":
    make(STORED / sys.argv[1])
