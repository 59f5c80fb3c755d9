"""
The module that `.allennlp_plugins` (or `~/.allennlp/plugins`) names: importing it makes our names
known to AllenNLP.

AllenNLP does not walk a plugin's modules, so every module that registers something is listed here.
"""

import importlib

from elmo_tasks import compat, settings

REGISTERING_MODULES: tuple[str, ...] = (
    "elmo_tasks.commands.bilm",
    "elmo_tasks.data.tokenizer",
    "elmo_tasks.data.vectors",
    "elmo_tasks.data.words",
    "elmo_tasks.elmo.embedder",
    "elmo_tasks.elmo.indexer",
    "elmo_tasks.ner.metric",
    "elmo_tasks.ner.model",
    "elmo_tasks.ner.predictor",
    "elmo_tasks.ner.reader",
    "elmo_tasks.nn.stacked_lstm",
    "elmo_tasks.pretrain.data_loader",
    "elmo_tasks.pretrain.model",
    "elmo_tasks.pretrain.progress",
)


def register_all() -> None:
    """
    Imports every registering module.

    # Raises

    ImportError
        if one of them cannot be imported: AllenNLP would log a `ModuleNotFoundError` and go on
        without the plugin.
    """
    for name in REGISTERING_MODULES:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise ImportError(f"elmo_tasks.plugin: {name} cannot be imported: {error}") from error


compat.apply()
settings.apply_defaults()
register_all()
