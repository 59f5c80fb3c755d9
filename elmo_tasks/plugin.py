"""The AllenNLP plugin: importing it registers all names, and changes nothing else."""

import importlib

REGISTERING_MODULES: dict[str, tuple[str, ...]] = {
    "checks": ("training",),
    "data": ("subsampling", "token_budget", "tokenizer", "vectors", "words"),
    "elmo": ("embedder", "indexer"),
    "modules": ("character_cnn", "coupled_lstm", "feedforward_lstm", "gru", "highway_lstm", "stacked_lstm"),
    "prediction": ("tagger_predictor",),
    "training": ("moving_average", "schedule", "trainer", "vocabulary"),
    "pretraining": ("data_loader", "model", "progress", "task_text", "tuning"),
    "coref": ("evaluator", "metric", "model", "predictor", "reader", "schedule"),
    "ner": ("model", "predictor", "reader"),
    "snli": ("metric", "model", "predictor", "reader"),
    "squad": ("evaluator", "metric", "model", "predictor", "reader", "tokenization"),
    "srl": ("evaluator", "indexer", "metric", "model", "predictor", "reader"),
    "sst": ("head", "model", "predictor", "reader"),
    "tagging": ("metric", "model", "reader"),
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


register_all()
