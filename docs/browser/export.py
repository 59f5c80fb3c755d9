"""
Write the embedded biLM for the static page: `model.json` (sizes, words, tensors) and
`model.bin` (float16, little-endian), beside this file or into the given folder. The
same biLM gives the same bytes.

    python docs/browser/export.py [FOLDER]
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.bilm import DIRECTIONS, BiLM
from elmo_tasks.bilm.characters import batch_to_ids
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.files import atomic_write

COMMON_WORDS = 2000


def tensors(bilm: BiLM, words: list[str]) -> dict[str, Tensor]:
    """
    The weights by name as `elmo.js` reads them, and the context-free vectors [V, P] of
    `words`.
    """
    encoder = bilm.token_encoder
    found = {
        "characters": encoder.characters,
        "words": bilm.encode_types(batch_to_ids([words])[0]),
    }
    for index, layer in enumerate(encoder.convolutions):
        windows = layer.weight.transpose(1, 2)  # [filters, w, 16]
        found[f"filters.{index}"] = windows.flatten(1)  # a window's bytes in turn
        found[f"filters.{index}.bias"] = layer.bias
    linear = {"projection": encoder.projection}
    for index, highway in enumerate(encoder.highways):
        linear[f"highway.{index}.transform"] = highway.transform
        linear[f"highway.{index}.gate"] = highway.gate
    for name, layer in linear.items():
        found[name] = layer.weight
        found[f"{name}.bias"] = layer.bias
    for direction in DIRECTIONS:
        for depth, layer in enumerate(getattr(bilm, f"{direction}_stack").layers):
            name = f"{direction}.{depth}"
            weights = [layer.input_weight, layer.hidden_weight]
            found[name] = torch.cat(weights, 1)  # [4H, 2P], gates i, o, f, j
            found[f"{name}.bias"] = layer.bias
            found[f"{name}.projection"] = layer.projection
    return found


def common_words(vocabulary: Path) -> list[str]:
    """The most frequent words of letters; the vocabulary is sorted by frequency."""
    words = [line.strip() for line in vocabulary.read_text("utf-8").splitlines()]
    return [word for word in words if word.isalpha()][:COMMON_WORDS]


@torch.no_grad()
def export(folder: Path) -> None:
    """Write both files."""
    options_file, weight_file = embedded_bilm()
    bilm = BiLM.from_files(options_file, weight_file)
    words = common_words(options_file.with_name("vocabulary.txt"))
    data = b""
    shapes = {}  # in the order of the tensors in model.bin
    for name, tensor in tensors(bilm, words).items():
        array = tensor.numpy().astype("<f2")
        if not np.isfinite(array).all():
            raise SystemExit(f"expected {name} below 65,504, for float16")
        data += array.tobytes()
        shapes[name] = array.shape
    description: dict[str, object] = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
    }
    description |= bilm.options.to_dict()
    description |= {"tensors": shapes, "words": words}
    content = json.dumps(description, ensure_ascii=False).encode()
    write(folder / "model.bin", data)
    write(folder / "model.json", content)


def write(file: Path, content: bytes) -> None:
    with atomic_write(file) as aside:
        aside.write_bytes(content)


if __name__ == "__main__":
    export(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
