"""The models of ELMoForManyLangs (Che et al. 2018): a biLM over characters of Unicode and known words."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import DIRECTIONS, BiLM
from elmo_tasks.bilm.characters import (
    MOST_CHARACTERS,
    fit_slots,
    ids_to_text,
    tokens_to_ids,
)
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.tensor_files import check_tensor_file
from elmo_tasks.formats.text_files import open_text

WEIGHTS = "token_embedder.pkl"
"""A file that only these models have; the other weights are in `encoder.pkl`."""

_CONFIG = "cnn_50_100_512_4096_sample.json"
PUBLISHED: dict[str, dict[str, Any]] = {
    "encoder": {
        "name": "elmo",
        "projection_dim": 512,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 4096,
        "n_layers": 2,
    },
    "token_embedder": {
        **{
            "name": "cnn",
            "activation": "relu",
            "filters": BiLMOptions().filters,
            "n_highway": 2,
        },
        **{"word_dim": 100, "char_dim": 50, "max_characters_per_token": 50},
    },
}
"""The configuration of this name, which all published models have, and their ZIPs do not contain."""

_WHAT, _SETTINGS = (
    "the weights of ELMoForManyLangs",
    "a configuration of ELMoForManyLangs",
)
_WORDS_AT_ONCE = 256

_GATES = (0, 3, 1, 2)
"""The places of our gates, input, output, forget and candidate, among theirs."""


class _WordEncoder(nn.Module):
    """In place of `TokenEncoder`; the names of its parameters are those of the file."""

    def __init__(
        self,
        config: Mapping[str, Any],
        width: int,
        words: dict[str, int] | None,
        characters: dict[str, int] | None,
    ) -> None:
        super().__init__()
        self._config, self._words, self._characters = config, words, characters
        size = config["word_dim"]
        if words is not None:
            self.word_emb_layer = nn.ModuleDict(
                {"embedding": nn.Embedding(len(words), size)}
            )
        if characters is not None:
            dim, count = (
                config["char_dim"],
                sum(number for _, number in config["filters"]),
            )
            self.char_emb_layer = nn.ModuleDict(
                {"embedding": nn.Embedding(len(characters), dim)}
            )
            self.convolutions = nn.ModuleList(
                nn.Conv1d(dim, number, width) for width, number in config["filters"]
            )
            layers = nn.ModuleList(
                nn.Linear(count, 2 * count) for _ in range(config["n_highway"])
            )
            self.highways = nn.ModuleDict({"_layers": layers})
            size += count
        self.projection = nn.Linear(size, width)

    @property
    def characters(self) -> Tensor:
        """A tensor with the data type of the layers; `BiLM` asks for it."""
        return self.projection.weight

    def is_batch_invariant(self, **_: Any) -> bool:
        """Only up to rounding: vectors of words are not kept."""
        return False

    def forward(
        self, character_ids: Tensor, *, precision: torch.dtype | None = None
    ) -> Tensor:
        """Vectors [N, P] of the words with ids [N, C]."""
        return torch.cat(
            [
                self._encode(ids_to_text(ids))
                for ids in character_ids.split(_WORDS_AT_ONCE)
            ]
        )

    def _encode(self, words: list[str]) -> Tensor:
        if self._config["name"] == "cnn":
            words = [
                word[: self._config["max_characters_per_token"] - 2] for word in words
            ]
        parts, device = [], self.projection.weight.device
        if self._words is not None:
            ids = [self._words.get(word, self._words["<oov>"]) for word in words]
            parts.append(
                self.word_emb_layer["embedding"](torch.tensor(ids, device=device))
            )  # [N, word_dim]
        if self._characters is not None:
            spelled = torch.tensor(
                [self._spell(word, self._characters) for word in words], device=device
            )
            parts.append(self._convolve(spelled))  # [N, F]
        return self.projection(torch.cat(parts, -1))

    def _spell(self, word: str, ids: dict[str, int]) -> list[int]:
        """The ids of a word's characters. The two ends of a word are swapped, as the weights were trained."""
        characters = [word] if word in ("<bos>", "<eos>") else list(word)
        found = [
            ids["<eow>"],
            *(ids.get(one, ids["<oov>"]) for one in characters),
            ids["<bow>"],
        ]
        return found + [ids["<pad>"]] * (
            self._config["max_characters_per_token"] - len(found)
        )

    def _convolve(self, spelled: Tensor) -> Tensor:
        """Characters [N, C] -> [N, F]."""
        activation = getattr(torch, self._config["activation"])
        embedded = self.char_emb_layer["embedding"](spelled).transpose(
            1, 2
        )  # [N, char_dim, C]
        hidden = torch.cat(
            [activation(layer(embedded).amax(-1)) for layer in self.convolutions], -1
        )
        for layer in self.highways["_layers"]:  # type: ignore[attr-defined]
            candidate, gate = layer(hidden).chunk(2, -1)
            hidden = torch.lerp(candidate.relu(), hidden, gate.sigmoid())
        return hidden


_LSTM_NAMES = {  # our names of a layer's parameters, and theirs
    "input_weight": "input_linearity.weight",
    "hidden_weight": "state_linearity.weight",
    "bias": "state_linearity.bias",
    "projection": "state_projection.weight",
}


def open_manylangs(folder: str | Path) -> BiLM:
    """
    The layers of a model of ELMoForManyLangs, as its `Embedder` computes them, but each sentence starts from zero
    states, where theirs continues from the batch before. The biLM is frozen and packed, and has their word encoder.

    `folder` has `config.json`, the configuration that it names, `char.dic`, `word.dic`, `token_embedder.pkl` and
    `encoder.pkl`. Raises `InputError` if a file is missing or invalid. No code in the files is run.
    """
    folder = Path(folder)
    token, options = _read_config(folder)
    words = (
        _read_dictionary(folder / "word.dic", ("<oov>",)) if token["word_dim"] else None
    )
    special = ("<oov>", "<pad>", "<bow>", "<eow>", "<bos>", "<eos>")
    characters = (
        _read_dictionary(folder / "char.dic", special) if token["char_dim"] else None
    )
    with _weights(folder / WEIGHTS) as tensors:
        with torch.device("meta"):
            encoder, bilm = (
                _WordEncoder(token, options.projection_dim, words, characters),
                BiLM(options),
            )
        encoder.load_state_dict(tensors, assign=True)
    with _weights(folder / "encoder.pkl") as tensors:
        _load_lstms(bilm, tensors)
    bilm.token_encoder = encoder  # type: ignore[assignment]
    bilm.boundaries = fit_slots(
        torch.from_numpy(tokens_to_ids(["<bos>", "<eos>"]).astype("int64")),
        MOST_CHARACTERS,
    )
    return bilm.eval().requires_grad_(False).pack()


@contextmanager
def _weights(file: Path) -> Iterator[dict[str, Tensor]]:
    """
    The weights of a file, read without running code. Errors inside the block are that they do not match the
    configuration.
    """
    if not file.is_file():
        raise InputError(f"no such file: {_WHAT}", file=file)
    try:
        check_tensor_file(file)
        found = torch.load(file, map_location="cpu", weights_only=True)
        tensors = {str(name): tensor.float() for name, tensor in found.items()}
    except Exception:  # damaged files raise errors of any kind
        problem = (
            "it is damaged, or holds more than tensors, such as code, which is not run"
        )
        raise InputError(f"cannot read {_WHAT}: {problem}", file=file) from None
    try:
        yield tensors
    except (KeyError, RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"does not match the configuration: {reason}", file=file
        ) from None


def _load_lstms(bilm: BiLM, tensors: dict[str, Tensor]) -> None:
    for direction in DIRECTIONS:
        for depth, layer in enumerate(getattr(bilm, f"{direction}_stack").layers):
            own = {
                name: tensors.pop(f"{direction}_layer_{depth}.{theirs}")
                for name, theirs in _LSTM_NAMES.items()
            }
            for name in own.keys() - {"projection"}:
                blocks = own[name].chunk(4)
                own[name] = torch.cat([blocks[place] for place in _GATES])
            layer.load_state_dict(own, assign=True)
            layer.forget_bias = torch.zeros(4 * layer.dim)  # theirs is part of the bias
    if tensors:
        raise KeyError(f"unused: {', '.join(tensors)}")


def _read_config(folder: Path) -> tuple[dict[str, Any], BiLMOptions]:
    """The configuration of the word encoder, and the sizes of the LSTMs."""
    found = read_json(folder / "config.json", _SETTINGS)
    named = (
        found.get("config_path", "config.json")
        if isinstance(found, dict)
        else "config.json"
    )
    file = folder / Path(str(named)).name
    config = (
        PUBLISHED
        if file.name == _CONFIG and not file.exists()
        else read_json(file, _SETTINGS)
    )
    try:
        token, encoder = config["token_embedder"], config["encoder"]
        reads_characters = token["name"] == "cnn" and token["char_dim"] > 0
        if encoder["name"] != "elmo" or not (
            reads_characters or (token["word_dim"] > 0 and token["char_dim"] == 0)
        ):
            raise ValueError(
                "expected the encoder elmo, and words or the characters of a CNN"
            )
        sizes = {
            name: encoder[name]
            for name in ("dim", "projection_dim", "n_layers", "cell_clip", "proj_clip")
        }
        if reads_characters:
            sizes |= {
                name: token[name]
                for name in ("activation", "n_highway", "max_characters_per_token")
            }
            sizes |= {
                "filters": tuple(map(tuple, token["filters"])),
                "character_dim": token["char_dim"],
            }
        return token, replace(
            BiLMOptions(**sizes), max_characters_per_token=MOST_CHARACTERS
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"cannot read {_SETTINGS}: {type(error).__name__}: {error}", file=file
        ) from None


def _read_dictionary(file: Path, special: tuple[str, ...]) -> dict[str, int]:
    """Ids from 0. A blank loses its place in the line and becomes an ideographic space, as in their reader."""
    ids: dict[str, int] = {}
    for number, line in open_text(file, keep_marks=True):
        *word, index = line.strip().split("\t")
        if len(word) > 1 or not index.isdecimal():
            raise InputError(
                f"expected an entry, a tab and its number, got {line!r:.60}",
                file=file,
                line=number,
            )
        ids["".join(word) or "\u3000"] = int(index)
    if not ids.keys() >= set(special) or max(ids.values()) >= len(ids):
        raise InputError(
            f"expected {', '.join(special)} among its entries, and numbers below their count",
            file=file,
        )
    return ids
