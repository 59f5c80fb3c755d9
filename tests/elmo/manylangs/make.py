"""
Writes the models of this folder, random ones of ELMoForManyLangs, and `layers.npz`,
what its package makes of them.

    python -m venv /tmp/old && /tmp/old/bin/pip install torch numpy overrides==3.1.0
    /tmp/old/bin/pip install --no-deps elmoformanylangs==0.0.4
    /tmp/old/bin/python tests/elmo/manylangs/make.py
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).resolve().parent

WORDS = [
    "<oov>",
    "<pad>",
    "<bos>",
    "<eos>",
    "The",
    "harbour",
    "froze",
    ".",
    "日本語",
    "x" * 10,
]
CHARACTERS = [
    "<oov>",
    "<pad>",
    "<bow>",
    "<eow>",
    "<bos>",
    "<eos>",
    *"The rboué日本語.x<>",
]
SENTENCES = [
    ["The", "harbour", "froze", "."],
    ["é" * 30, "x" * 11, "unknown", "日本語", "本日", "<bos>", "<S>"],
    ["one"],
]
TOKEN: dict[str, Any] = {
    "name": "cnn", "activation": "relu", "filters": [[1, 3], [2, 4], [5, 3]], "n_highway": 2, "word_dim": 4,
    "char_dim": 3, "max_characters_per_token": 12,
}  # fmt: skip
ENCODER = {
    "name": "elmo",
    "projection_dim": 5,
    "cell_clip": 0.5,
    "proj_clip": 0.4,
    "dim": 7,
    "n_layers": 2,
}
CONFIGS = {
    "both": TOKEN,
    "characters": TOKEN | {"word_dim": 0, "activation": "tanh", "n_highway": 1},
    "words": TOKEN | {"char_dim": 0, "name": "lstm"},
}


def write(folder: Path, token: dict[str, Any]) -> dict[str, Any]:
    """The text files of a model; returns its configuration."""
    folder.mkdir(exist_ok=True)
    config = {"encoder": ENCODER, "token_embedder": token, "dropout": 0.1}
    (folder / "sizes.json").write_text(json.dumps(config))
    (folder / "config.json").write_text(
        json.dumps({"config_path": "/users/someone/sizes.json"})
    )
    for name, entries in (("word", WORDS), ("char", CHARACTERS)):
        lines = (f"{entry}\t{index}\n" for index, entry in enumerate(entries))
        (folder / f"{name}.dic").write_text("".join(lines), "utf-8")
    return config


def main() -> None:
    """
    Each sentence goes through a model that has seen no other: the package carries
    states.
    """
    from elmoformanylangs.elmo import Embedder
    from elmoformanylangs.frontend import Model
    from elmoformanylangs.modules.embedding_layer import EmbeddingLayer

    layers = {}
    for name, token in CONFIGS.items():
        config = write(HERE / name, token)
        tables = []
        for key, entries in (("word_dim", WORDS), ("char_dim", CHARACTERS)):
            ids = {
                entry if entry != " " else "\u3000": index
                for index, entry in enumerate(entries)
            }
            tables.append(
                EmbeddingLayer(token[key], ids, fix_emb=False) if token[key] else None
            )
        torch.manual_seed(len(layers))
        model = Model(config, *tables)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
        torch.save(
            model.token_embedder.state_dict(), HERE / name / "token_embedder.pkl"
        )
        torch.save(model.encoder.state_dict(), HERE / name / "encoder.pkl")
        for index, sentence in enumerate(SENTENCES):
            embedder = Embedder(str(HERE / name))
            layers[f"{name}{index}"] = embedder.sents2elmo([sentence], output_layer=-2)[
                0
            ]  # [L+1, T, 2P]
    np.savez(HERE / "layers.npz", **layers)


if __name__ == "__main__":
    main()
