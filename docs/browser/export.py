"""
Write the embedded biLM for the static page: `model.json` (sizes, words, tensors) and `model.bin` (float16,
little-endian), beside this file or into the given folder. The same biLM gives the same bytes.

    python docs/browser/export.py [FOLDER]
"""

import hashlib
import json
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.bilm import DIRECTIONS, BiLM
from elmo_tasks.bilm.characters import batch_to_ids
from elmo_tasks.files import atomic_write
from elmo_tasks.resources import embedded_bilm

COMMON_WORDS = 2000


def tensors(bilm: BiLM, words: list[str]) -> dict[str, Tensor]:
    """The weights by name as `elmo.js` reads them, and the context-free vectors [V, P] of `words`."""
    encoder = bilm.token_encoder
    found = {
        "characters": encoder.characters,
        "words": bilm.encode_types(batch_to_ids([words])[0]),
    }
    for index, layer in enumerate(encoder.convolutions):
        found[f"filters.{index}"] = layer.weight.transpose(1, 2).flatten(
            1
        )  # [filters, w * 16]: a window's bytes in turn
        found[f"filters.{index}.bias"] = layer.bias
    linear = {"projection": encoder.projection}
    for index, highway in enumerate(encoder.highways):
        linear |= {
            f"highway.{index}.transform": highway.transform,
            f"highway.{index}.gate": highway.gate,
        }
    for name, layer in linear.items():
        found |= {name: layer.weight, f"{name}.bias": layer.bias}
    for direction in DIRECTIONS:
        for depth, layer in enumerate(getattr(bilm, f"{direction}_stack").layers):
            name = f"{direction}.{depth}"
            found[name] = torch.cat(
                [layer.input_weight, layer.hidden_weight], 1
            )  # [4H, 2P], gates i, o, f, j
            found |= {
                f"{name}.bias": layer.bias,
                f"{name}.projection": layer.projection,
            }
    return found


def common_words(vocabulary: Path) -> list[str]:
    """The most frequent words of letters; the vocabulary is sorted by frequency."""
    with vocabulary.open(encoding="utf-8") as lines:
        return list(
            islice(
                (word for word in map(str.strip, lines) if word.isalpha()), COMMON_WORDS
            )
        )


@torch.no_grad()
def export(folder: Path) -> None:
    """Write both files."""
    options_file, weight_file = embedded_bilm()
    bilm = BiLM.from_files(options_file, weight_file)
    words = common_words(options_file.with_name("vocabulary.txt"))
    arrays = {
        name: tensor.numpy().astype("<f2")
        for name, tensor in tensors(bilm, words).items()
    }
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise SystemExit("expected weights below 65,504 for float16, got a larger one")
    data = b"".join(array.tobytes() for array in arrays.values())
    description = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        **bilm.options.to_dict(),
        "tensors": {
            name: array.shape for name, array in arrays.items()
        },  # one after the other in model.bin
        "words": words,
    }
    for name, content in (
        ("model.bin", data),
        ("model.json", json.dumps(description, ensure_ascii=False).encode()),
    ):
        with atomic_write(folder / name) as aside:
            aside.write_bytes(content)


if __name__ == "__main__":
    export(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
