"""Encoders with simple, known layers, and word-sense files from a few words."""

from collections.abc import Callable
from html import escape
from pathlib import Path

import torch
from torch import Tensor

from elmo_tasks.bilm.bilm import BiLMOutput
from elmo_tasks.experiments.probes.layers import Encode, FrozenEncoder
from tests.tiny import FIXTURES

POS_OF_TYPE = dict(zip("12345", ("NOUN", "VERB", "ADJ", "ADV", "ADJ"), strict=True))

WSD = FIXTURES / "wsd"
SEMCOR = WSD / "SemCor" / "semcor.data.xml"
INDEX_SENSE = WSD / "index.sense"


def encoder_of(vectors: Callable[[list[str], int], list[list[float]]]) -> Encode:
    """An encoder that gives token t of a sentence the L+1 vectors `vectors(words, t)` of width D."""

    def encode(character_ids: Tensor) -> BiLMOutput:
        mask = (character_ids > 0).any(2)  # [B, T]
        layers: Tensor | None = None
        for row, ids in enumerate(character_ids):
            words = [_word(token) for token in ids[mask[row]]]
            for t in range(len(words)):
                found = torch.tensor(vectors(words, t))  # [L+1, D]
                if layers is None:
                    layers = torch.zeros(len(found), *mask.shape, found.shape[1])
                layers[:, row, t] = found
        assert layers is not None
        return BiLMOutput(layers, mask)

    return encode


def _word(ids: Tensor) -> str:
    return bytes(i - 1 for i in ids.tolist() if 1 <= i <= 256).decode()


def frozen(encode: Encode) -> FrozenEncoder:
    return FrozenEncoder(encode, "biLM")


def write_wsd(file: Path, *sentences: str) -> Path:
    """`The play%1:10:01:: ended`: words with sense keys, separated by `|`, are targets; `_` is a blank."""
    body, keys = [], []
    for sentence in sentences:
        body.append("<sentence>")
        for word in sentence.split():
            lemma, mark, rest = word.partition("%")
            if mark:
                name = f"d0.t{len(keys)}"
                keys.append(f"{name} {word.replace('|', ' ')}")
                text = escape(lemma.replace("_", " "))
                body.append(
                    f'<instance id="{name}" lemma="{lemma}" pos="{POS_OF_TYPE[rest[0]]}">{text}</instance>'
                )
            else:
                body.append(f"<wf>{escape(word)}</wf>")
        body.append("</sentence>")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["<corpus><text>", *body, "</text></corpus>"]))
    file.with_name(file.name.replace(".data.xml", ".gold.key.txt")).write_text(
        "\n".join(keys)
    )
    return file
