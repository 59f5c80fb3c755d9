"""The AllenNLP plugin: importing it registers all names, and changes nothing else."""

import importlib

REGISTERING_MODULES: dict[str, tuple[str, ...]] = {
    "nn": (
        "character_cnn",
        "coupled_lstm",
        "elmo_embedder",
        "elmo_indexer",
        "feedforward_lstm",
        "gru",
        "highway_lstm",
        "stacked_lstm",
        "word_indexer",
        "word_vectors",
    ),
    "training": (
        "checks.training",
        "moving_average",
        "schedule",
        "subsampling",
        "token_budget",
        "trainer",
        "vocabulary",
    ),
    "tasks": ("classifier", "tokenizer"),
    "pretraining": ("data_loader", "model", "progress", "task_text", "tuning"),
    "tasks.coref": ("evaluator", "metric", "model", "predictor", "reader", "schedule"),
    "tasks.snli": ("model", "predictor", "reader"),
    "tasks.squad": ("evaluator", "metric", "model", "predictor", "reader", "tokenization"),
    "tasks.srl": ("evaluator", "indexer", "metric", "model", "predictor", "reader"),
    "tasks.sst": ("head", "model", "predictor", "reader"),
    "tasks.tagging": ("metric", "model", "predictor", "reader"),
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
