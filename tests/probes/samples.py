"""Sources with simple, known layers, and word-sense files from a few words."""

from collections.abc import Callable
from html import escape
from pathlib import Path

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.elmo.layers import Layers
from tests.tiny import FIXTURES

POS_OF_TYPE = dict(zip("12345", ("NOUN", "VERB", "ADJ", "ADV", "ADJ"), strict=True))

WSD = FIXTURES / "wsd"
SEMCOR = WSD / "SemCor" / "semcor.data.xml"
INDEX_SENSE = WSD / "index.sense"


class KnownLayers(nn.Module):
    """
    A source that gives token t of a sentence the L+1 vectors `vectors(words, t)` of
    width D.
    """

    state = "reset"
    precision = "float32"
    dtype = torch.float32

    def __init__(self, vectors: Callable[[list[str], int], list[list[float]]]) -> None:
        super().__init__()
        self.vectors = vectors
        self.n_layers, self.output_dim = torch.tensor(vectors(["word"], 0)).shape
        self.unused = nn.Parameter(torch.zeros(1))  # says on which device it is

    def forward(self, character_ids: Tensor) -> LayerOutput:
        mask = (character_ids > 0).any(2)  # [B, T]
        layers = torch.zeros(self.n_layers, *mask.shape, self.output_dim)
        for row, ids in enumerate(character_ids):
            words = []
            for token in ids[mask[row]].tolist():
                words.append(bytes(i - 1 for i in token if 1 <= i <= 256).decode())
            for t in range(len(words)):
                layers[:, row, t] = torch.tensor(self.vectors(words, t))
        return LayerOutput(layers, mask)


def known(vectors: Callable[[list[str], int], list[list[float]]]) -> Layers:
    return Layers(KnownLayers(vectors))


def write_wsd(file: Path, *sentences: str) -> Path:
    """
    `The play%1:10:01:: ended`: words with sense keys, separated by `|`, are targets;
    `_` is a blank.
    """
    body = []
    keys: list[str] = []
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
    file.write_text("\n".join(["<corpus><text>"] + body + ["</text></corpus>"]))
    file.with_name(file.name.replace(".data.xml", ".gold.key.txt")).write_text(
        "\n".join(keys)
    )
    return file
