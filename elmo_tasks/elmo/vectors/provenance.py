"""Where the layers of an opened source come from, as files of vectors record it."""

import json
from typing import Any

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.sources.transformer import Transformer


def provenance(layers: Layers) -> dict[str, Any]:
    """
    The files of the source and its options. Raises `InputError` if it was not opened
    from files.
    """
    files = layers.opened_files()
    source = layers.source
    found: dict[str, Any] = {"model": files.public, "model_sha256": files.sha256}
    if isinstance(source, BiLM):
        found["options"] = json.dumps(source.options.to_dict())
    if isinstance(source, Transformer):
        found["options"] = source.model.config.to_json_string()
        found["word_pieces"] = source.pieces
    return found
