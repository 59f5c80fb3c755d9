"""
The names of the files in the folder of a run and in its archive: what each one is, and
who writes it.

`training/folder.py` says how a run begins in a folder. The names of a table's
run, whose folder has that of a training in it, are in `experiments/tables/run_dir.py`.
"""

import re
from pathlib import Path

CONFIG = "config.json"
"""
The config of the run. `training/folder.py` writes it, and in the archive
`training/run.py`.
"""

INPUTS = "inputs.json"
"""The SHA-256 of the files of the run's data. `training/folder.py` writes it."""

META = "meta.json"
"""The version of AllenNLP. `training/folder.py` writes it."""

LOG = "out.log"
"""
The messages of the training. `training/reports/logs.py` writes them, and AllenNLP those of a
distributed training.
"""

VOCABULARY = "vocabulary"
"""
The folder of the vocabulary, a file for each namespace. AllenNLP or
`training/folder.py` writes them.
"""

CHECKPOINT = re.compile(
    r"(?:model|training)_state_e(?P<epochs>\d+)_b(?P<batches>\d+)(?:_w\d+)?\.th"
)
"""
The two files of a checkpoint. `training/resume/checkpointer.py` writes them, and AllenNLP
makes the names; those of a sharded model end with `_w0`, `_w1`, ...
"""

TRAINING_STATES = "training_state_e*_b*.th"
"""The first file of each checkpoint, the state of the trainer."""

BEST = "best.th"
"""The weights of the best epoch so far. AllenNLP's trainer writes them."""

METRICS = "metrics.json"
"""The metrics of the finished run. AllenNLP writes them."""

CURVES = "curves.png"
"""The learning curves. `training/reports/curves.py` draws them."""

ARCHIVE = "model.tar.gz"
"""The trained model. `training/run.py` writes it at the end of the run."""

WEIGHTS = "weights.th"
"""The weights in the archive. `training/run.py` writes them."""

OPTIONS_FILE = "options.json"
"""
The sizes of a biLM, in the official format; also in the folder of a run that tunes one.
`bilm/weights.py` writes it.
"""

WEIGHT_FILE = "weights.hdf5"
"""The weights of a biLM, in the official format. `bilm/weights.py` writes it."""

SAFETENSORS_FILE = "model.safetensors"
"""
The weights of a biLM, in the format of the Hugging Face hub, with a `config.json`.
`bilm/safetensors_weights.py` writes it.
"""

CARD_FILE = "README.md"
"""The model card of a saved biLM. `elmo/models/saving.py` writes it."""

VOCABULARY_FILE = "vocabulary.txt"
"""
The words of a language model's softmax, in the official format.
`pretraining/vocabulary.py` writes it.
"""

SOFTMAX_FILE = "softmax.hdf5"
"""The softmax of a language model. `pretraining/export.py` writes it."""

LANGUAGE_MODEL = (OPTIONS_FILE, WEIGHT_FILE, VOCABULARY_FILE, SOFTMAX_FILE)
"""The files of an exported language model."""

CURVE = "curve.jsonl"
"""
The progress of a biLM's training, a line for each validation.
`pretraining/components/callbacks.py` writes it.
"""

PERPLEXITIES = "perplexities.json"
"""The perplexity before and after fine-tuning. `pretraining/components/callbacks.py` writes it."""

EXPORTED = "exported"
"""
The folder of the tuned language model, with the files `LANGUAGE_MODEL`.
`pretraining/components/callbacks.py` writes it.
"""

MODEL_RECORD = "model.json"
"""
The names and digests of the frozen models that the training uses, such as its biLM,
and of a biLM that it tunes.
`elmo/models/record.py` writes it when the training begins.
"""

MODEL_COPIES = "model_files"
"""
The folder of copies of these models, a folder for each, with `archive: true`.
`elmo/models/record.py` writes it.
"""

ARCHIVED = (
    CONFIG,
    META,
    MODEL_RECORD,
    f"{MODEL_COPIES}/*/*",
    "requirements.txt",
    OPTIONS_FILE,
    "*.th",
    f"{VOCABULARY}/*",
)
"""The members of an archive that are unpacked."""

MODEL = "model"
"""In the folder of a table's run, the folder of its training."""

EPOCH_METRICS = re.compile(r"metrics_epoch_(?P<epoch>\d+)\.json")
"""
The metrics of an epoch, counted from 0. AllenNLP writes them, and
`training/resume/run_state.py` completes them.
"""


def epoch_metrics_name(epoch: int) -> str:
    """The name of the metrics of an epoch."""
    return f"metrics_epoch_{epoch}.json"


def epoch_metrics(folder: Path) -> dict[int, Path]:
    """The files of metrics in the folder of a run, by their epochs, in order."""
    files = {}
    for path in folder.glob("metrics_epoch_*.json"):
        found = EPOCH_METRICS.fullmatch(path.name)
        if found is not None:
            files[int(found["epoch"])] = path
    return dict(sorted(files.items()))
