"""
The AllenNLP plugin (see compat/site/elmo_tasks_plugin.py): importing it registers all names and applies all patches.
"""

import importlib

from elmo_tasks import compat, settings
from elmo_tasks.checks.training import check_before_training
from elmo_tasks.commands.evaluate import improve_evaluate
from elmo_tasks.commands.predict import improve_predict

REGISTERING_MODULES: dict[str, tuple[str, ...]] = {
    "commands": ("ablate", "actions", "bilm", "cache", "check", "data", "probe"),
    "data": ("subsampling", "token_budget", "tokenizer", "vectors", "words"),
    "elmo": ("embedder", "indexer"),
    "modules": ("character_cnn", "coupled_lstm", "feedforward_lstm", "gru", "highway_lstm", "stacked_lstm"),
    "prediction": ("tagger_predictor",),
    "training": ("trainer",),
    "pretraining": ("data_loader", "model", "progress", "task_text", "tuning"),
    "coref": ("evaluator", "metric", "model", "predictor", "reader", "schedule"),
    "ner": ("model", "predictor", "reader"),
    "snli": ("metric", "model", "predictor", "reader"),
    "squad": ("evaluator", "metric", "model", "predictor", "reader", "tokenization"),
    "srl": ("evaluator", "indexer", "metric", "model", "predictor", "reader"),
    "sst": ("head", "model", "predictor", "reader"),
    "tagging": ("metric", "model", "reader"),
    "web": ("command",),
}
"""By package."""


def register_all() -> None:
    """
    Imports every registering module.

    Raises `ImportError` if one of them cannot be imported. AllenNLP would log a `ModuleNotFoundError` and continue
    without the plugin.
    """
    for package, names in REGISTERING_MODULES.items():
        for name in names:
            try:
                importlib.import_module(f"elmo_tasks.{package}.{name}")
            except ModuleNotFoundError as error:
                raise ImportError(f"elmo_tasks.{package}.{name} cannot be imported: {error}") from error


compat.apply()
settings.apply_defaults()
check_before_training()
improve_evaluate()
improve_predict()
register_all()
