"""
The models of ELMoForManyLangs (Che et al. 2018): a biLM over characters of Unicode and
known words.
"""

from collections.abc import Collection, Iterator, Mapping
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
from elmo_tasks.formats.tensor_files import read_state_dict
from elmo_tasks.formats.text.text_files import open_text

WEIGHTS = "token_embedder.pkl"
ENCODER = "encoder.pkl"
"""The weights of the words, and those of the LSTMs. Only these models have them."""

PATTERNS = ("*.json", "*.dic", "*.pkl")
"""Of the names of all files."""

_CONFIG = "cnn_50_100_512_4096_sample.json"
_PUBLISHED = Path(__file__).with_suffix(".json")
"""
The content of the file that all published models name, and their ZIPs do not contain.
"""

_WHAT = "the weights of ELMoForManyLangs"
_SETTINGS = "a configuration of ELMoForManyLangs"

_WORDS_AT_ONCE = 256
"""The most words that are encoded together, which bounds the memory."""

_GATES = (0, 3, 1, 2)
"""The indices of our gates, input, output, forget and candidate, among theirs."""


class _WordEncoder(nn.Module):
    """
    In place of `TokenEncoder`; the names of its parameters are those of the file.

    A word's vector is a projection of its embedding, of its characters' convolutions,
    or of both. `config` is what the configuration says under `token_embedder`,
    `output_dim` the width P of the vectors; `words` and `characters` are dictionaries,
    with the numbers of the embeddings' rows, where the model has these parts.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        output_dim: int,
        words: dict[str, int] | None,
        characters: dict[str, int] | None,
    ) -> None:
        super().__init__()
        self._config = config
        self._words = words
        self._characters = characters
        input_size = config["word_dim"]
        if words is not None:
            self.word_emb_layer = _embedding(len(words), config["word_dim"])
        if characters is not None:
            char_dim = config["char_dim"]
            self.char_emb_layer = _embedding(len(characters), char_dim)
            self.convolutions = nn.ModuleList()
            n_filters = 0
            for kernel_size, count in config["filters"]:
                self.convolutions.append(nn.Conv1d(char_dim, count, kernel_size))
                n_filters += count
            layers = nn.ModuleList()
            for _ in range(config["n_highway"]):
                layers.append(nn.Linear(n_filters, 2 * n_filters))
            self.highways = nn.ModuleDict({"_layers": layers})
            input_size += n_filters
        self.projection = nn.Linear(input_size, output_dim)

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
        vectors = []
        for ids in character_ids.split(_WORDS_AT_ONCE):
            vectors.append(self._encode(ids_to_text(ids)))
        return torch.cat(vectors)

    def _encode(self, words: list[str]) -> Tensor:
        """Vectors [N, P] of words."""
        if self._config["name"] == "cnn":
            longest = self._config["max_characters_per_token"] - 2
            words = [word[:longest] for word in words]
        parts = []
        if self._words is not None:
            parts.append(self._look_up(words, self._words))  # [N, word_dim]
        if self._characters is not None:
            spelled = [self._spell(word, self._characters) for word in words]
            parts.append(self._convolve(self._tensor(spelled)))  # [N, F]
        return self.projection(torch.cat(parts, -1))

    def _look_up(self, words: list[str], ids: dict[str, int]) -> Tensor:
        """The embeddings of words, [N, word_dim]; unknown words share one."""
        found = [ids.get(word, ids["<oov>"]) for word in words]
        return self.word_emb_layer["embedding"](self._tensor(found))

    def _spell(self, word: str, ids: dict[str, int]) -> list[int]:
        """
        The ids of a word's characters, padded. The two ends of a word are swapped, as
        the weights were trained.
        """
        characters = list(word)
        if word in ("<bos>", "<eos>"):
            characters = [word]
        spelled = [ids["<eow>"]]
        for character in characters:
            spelled.append(ids.get(character, ids["<oov>"]))
        spelled.append(ids["<bow>"])
        padding = self._config["max_characters_per_token"] - len(spelled)
        return spelled + [ids["<pad>"]] * padding

    def _convolve(self, spelled: Tensor) -> Tensor:
        """
        Ids of characters [N, C] -> [N, F]: convolutions, their maxima over the word,
        and highway layers.
        """
        activation = getattr(torch, self._config["activation"])
        embedded = self.char_emb_layer["embedding"](spelled)  # [N, C, char_dim]
        embedded = embedded.transpose(1, 2)  # [N, char_dim, C]
        pooled = []
        for convolution in self.convolutions:
            pooled.append(activation(convolution(embedded).amax(-1)))  # [N, filters]
        hidden = torch.cat(pooled, -1)  # [N, F]
        for layer in self.highways["_layers"]:  # type: ignore[attr-defined]
            candidate, gate = layer(hidden).chunk(2, -1)  # [N, F] each
            hidden = torch.lerp(candidate.relu(), hidden, gate.sigmoid())
        return hidden

    def _tensor(self, ids: list[Any]) -> Tensor:
        return torch.tensor(ids, device=self.projection.weight.device)


def _embedding(rows: int, width: int) -> nn.ModuleDict:
    """An embedding with the name that it has in the file."""
    return nn.ModuleDict({"embedding": nn.Embedding(rows, width)})


_LSTM_NAMES = {
    "input_weight": "input_linearity.weight",
    "hidden_weight": "state_linearity.weight",
    "bias": "state_linearity.bias",
    "projection": "state_projection.weight",
}
"""Our names of the parameters of a layer, and theirs."""

_LSTM_SIZES = ("dim", "projection_dim", "n_layers", "cell_clip", "proj_clip")

_WORDS = ("<oov>",)
_CHARACTERS = ("<oov>", "<pad>", "<bow>", "<eow>", "<bos>", "<eos>")
"""Entries that the dictionaries must have."""


def is_in(names: Collection[str], config: Mapping[str, Any]) -> bool:
    """Whether files with these names are those of a model, with this `config.json`."""
    return ENCODER in names or WEIGHTS in names


def open_manylangs(folder: str | Path) -> BiLM:
    """
    Open a model of ELMoForManyLangs (Che et al., 2018) as a biLM, frozen and packed.
    Its layers are those of the original `Embedder`, except that each sentence starts
    from zero states instead of those of the previous batch.

    `folder` contains `config.json`, the configuration that it names, `char.dic`,
    `word.dic`, `token_embedder.pkl` and `encoder.pkl`. Raises `InputError` if a file is
    missing or invalid. Code in the files is never run.
    """
    folder = Path(folder)
    token, options = _read_config(folder)
    words = None
    if token["word_dim"]:
        words = _read_dictionary(folder / "word.dic", _WORDS)
    characters = None
    if token["char_dim"]:
        characters = _read_dictionary(folder / "char.dic", _CHARACTERS)
    with _weights(folder / WEIGHTS) as tensors:
        with torch.device("meta"):
            encoder = _WordEncoder(token, options.projection_dim, words, characters)
            bilm = BiLM(options)
        encoder.load_state_dict(tensors, assign=True)
    with _weights(folder / ENCODER) as tensors:
        _load_lstms(bilm, tensors)
    bilm.token_encoder = encoder  # type: ignore[assignment]
    boundaries = torch.from_numpy(tokens_to_ids(["<bos>", "<eos>"]).astype("int64"))
    bilm.boundaries = fit_slots(boundaries, MOST_CHARACTERS)
    return bilm.eval().requires_grad_(False).pack()


@contextmanager
def _weights(file: Path) -> Iterator[dict[str, Tensor]]:
    """
    The weights of a file, read without running code. Errors inside the block are that
    they do not match the configuration.
    """
    tensors = read_state_dict(file, _WHAT)
    try:
        yield tensors
    except (IndexError, KeyError, RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"does not match the configuration: {reason}", file=file
        ) from None


def _load_lstms(bilm: BiLM, tensors: dict[str, Tensor]) -> None:
    """
    Give a biLM the weights of the LSTMs, which are taken out of `tensors`. Raises
    `KeyError` if one is missing or not used.
    """
    for direction in DIRECTIONS:
        stack = getattr(bilm, f"{direction}_stack")
        for depth, layer in enumerate(stack.layers):
            parameters = {}
            for name, theirs in _LSTM_NAMES.items():
                parameters[name] = tensors.pop(f"{direction}_layer_{depth}.{theirs}")
            for name in ("input_weight", "hidden_weight", "bias"):
                gates = parameters[name].unflatten(0, (4, -1))  # [4, H, ...]
                parameters[name] = gates[list(_GATES)].flatten(0, 1)
            layer.load_state_dict(parameters, assign=True)
            layer.forget_bias = torch.zeros(4 * layer.dim)  # theirs is part of the bias
    if tensors:
        raise KeyError(f"unused: {', '.join(tensors)}")


def _read_config(folder: Path) -> tuple[dict[str, Any], BiLMOptions]:
    """
    The configuration of the word encoder, and the sizes of the LSTMs, from the file of
    JSON that `config.json` names.
    """
    found = read_json(folder / "config.json", _SETTINGS)
    name = "config.json"
    if isinstance(found, dict):
        name = Path(str(found.get("config_path", name))).name
    file = folder / name
    if file.suffix != ".json":  # it would be no part of the digest
        raise InputError(f"expected config_path of a file .json, got {name}", file=file)
    if name == _CONFIG and not file.exists():
        file = _PUBLISHED
    config = read_json(file, _SETTINGS)
    try:
        token, encoder = config["token_embedder"], config["encoder"]
        return token, _options(token, encoder)
    except (KeyError, TypeError, ValueError) as error:
        problem = f"cannot read {_SETTINGS}: {type(error).__name__}: {error}"
        raise InputError(problem, file=file) from None


def _options(token: dict[str, Any], encoder: dict[str, Any]) -> BiLMOptions:
    """
    The sizes of a biLM, given both parts of the configuration. Raises `KeyError`,
    `TypeError` or `ValueError` if they are not of a model that we know.
    """
    reads_characters = token["name"] == "cnn" and token["char_dim"] > 0
    reads_words_alone = token["word_dim"] > 0 and token["char_dim"] == 0
    if encoder["name"] != "elmo" or not (reads_characters or reads_words_alone):
        expected = "the encoder elmo, and words or the characters of a CNN"
        raise ValueError(f"expected {expected}")
    sizes = {name: encoder[name] for name in _LSTM_SIZES}
    if reads_characters:
        for name in ("activation", "n_highway", "max_characters_per_token"):
            sizes[name] = token[name]
        sizes["filters"] = tuple(map(tuple, token["filters"]))
        sizes["character_dim"] = token["char_dim"]
    return replace(BiLMOptions(**sizes), max_characters_per_token=MOST_CHARACTERS)


def _read_dictionary(file: Path, special: tuple[str, ...]) -> dict[str, int]:
    """
    The ids of a dictionary's entries, from 0. An entry that is only white space is read
    as an ideographic space, as by their reader. Raises `InputError` if a line is
    invalid, or an entry of `special` is missing.
    """
    ids: dict[str, int] = {}
    for number, line in open_text(file, keep_marks=True):
        entry, _, index = line.strip().rpartition("\t")
        if "\t" in entry or not index.isdecimal():
            problem = f"expected an entry, a tab and its number, got {line!r:.60}"
            raise InputError(problem, file=file, line=number)
        ids[entry or "\u3000"] = int(index)
    if not ids.keys() >= set(special) or max(ids.values()) >= len(ids):
        expected = (
            f"{', '.join(special)} among its entries, and numbers below their count"
        )
        raise InputError(f"expected {expected}", file=file)
    return ids
