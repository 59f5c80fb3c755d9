"""The biLM by hand in NumPy: one token, one gate, one step at a time, from the official files alone."""

import json
from pathlib import Path

import h5py
import numpy as np

ROWS = 262
BEGIN_OF_SENTENCE, END_OF_SENTENCE, BEGIN_OF_WORD, END_OF_WORD, FILLER = range(256, 261)


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-values))


def characters_of(token: str) -> list[int]:
    """50 rows of the character table: byte values, and the five that are none."""
    marks = {"<S>": [BEGIN_OF_SENTENCE], "</S>": [END_OF_SENTENCE]}
    body = marks.get(token) or list(token.encode("utf-8", "ignore")[:48])
    row = [BEGIN_OF_WORD, *body, END_OF_WORD]
    return row + [FILLER] * (50 - len(row))


class Reference:
    """
    Holds the numbers of the two files in float64, and the state of each row once `carry` is asked for.
    """

    def __init__(self, options_file: str | Path, weight_file: str | Path) -> None:
        self.options = json.loads(Path(options_file).read_text())
        self.weights: dict[str, np.ndarray] = {}
        with h5py.File(weight_file, "r") as file:
            file.visititems(self._read)
        self.carried: dict[tuple[int, int, int], tuple[np.ndarray, np.ndarray]] = {}

    def _read(self, name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            self.weights[name] = item[...].astype(np.float64)

    def layers(self, sentences: list[list[str]], *, carry: bool = False) -> list[np.ndarray]:
        """For each sentence [L+1, T, 2P]."""
        return [self._sentence(row, sentence, carry) for row, sentence in enumerate(sentences)]

    def _sentence(self, row: int, sentence: list[str], carry: bool) -> np.ndarray:
        vectors = np.stack([self.token(token) for token in ["<S>", *sentence, "</S>"]])
        ahead = self._direction(0, row, vectors, carry)
        back = [layer[::-1] for layer in self._direction(1, row, vectors[::-1], carry)]
        pairs = zip([vectors, *ahead], [vectors, *back], strict=True)
        return np.stack([np.concatenate(pair, 1)[1:-1] for pair in pairs])

    def token(self, token: str) -> np.ndarray:
        """The context-free vector [P]."""
        table, cnn = self.weights["char_embed"], self.options["char_cnn"]
        characters = np.stack([table[character] for character in characters_of(token)])
        pooled = []
        for index, (width, _) in enumerate(cnn["filters"]):
            kernel = self.weights[f"CNN/W_cnn_{index}"][0]  # [width, characters, filters]
            scores = [
                np.einsum("wc,wcn->n", characters[start : start + width], kernel) for start in range(50 - width + 1)
            ]
            raw = np.stack(scores) + self.weights[f"CNN/b_cnn_{index}"]
            active = np.maximum(raw, 0.0) if cnn["activation"] == "relu" else np.tanh(raw)
            pooled.append(active.max(0))
        hidden = np.concatenate(pooled)
        for index in range(cnn["n_highway"]):
            hidden = self._highway(f"CNN_high_{index}", hidden)
        return hidden @ self.weights["CNN_proj/W_proj"] + self.weights["CNN_proj/b_proj"]

    def _highway(self, name: str, hidden: np.ndarray) -> np.ndarray:
        def affine(which: str) -> np.ndarray:
            return hidden @ self.weights[f"{name}/W_{which}"] + self.weights[f"{name}/b_{which}"]

        gate = sigmoid(affine("carry"))
        return gate * np.maximum(affine("transform"), 0.0) + (1.0 - gate) * hidden

    def _direction(self, direction: int, row: int, inputs: np.ndarray, carry: bool) -> list[np.ndarray]:
        outputs = []
        for layer in range(self.options["lstm"]["n_layers"]):
            hidden = self._lstm(direction, layer, row, inputs, carry)
            if layer and self.options["lstm"]["use_skip_connections"]:
                hidden = hidden + inputs
            outputs.append(hidden)
            inputs = hidden
        return outputs

    def _lstm(self, direction: int, layer: int, row: int, inputs: np.ndarray, carry: bool) -> np.ndarray:
        name = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
        kernel, bias = self.weights[f"{name}/W_0"], self.weights[f"{name}/B"]
        projection, sizes = self.weights[f"{name}/W_P_0"], self.options["lstm"]
        zeros = np.zeros(sizes["dim"]), np.zeros(sizes["projection_dim"])
        place = direction, layer, row
        cell, hidden = self.carried.get(place, zeros) if carry else zeros
        outputs = []
        for vector in inputs:
            i, j, f, o = np.split(np.concatenate([vector, hidden]) @ kernel + bias, 4)
            cell = sigmoid(f + 1.0) * cell + sigmoid(i) * np.tanh(j)
            cell = clip(cell, sizes["cell_clip"])
            hidden = clip((sigmoid(o) * np.tanh(cell)) @ projection, sizes["proj_clip"])
            outputs.append(hidden)
        if carry:
            self.carried[place] = cell, hidden
        return np.stack(outputs)


def clip(values: np.ndarray, bound: float | None) -> np.ndarray:
    return np.clip(values, -bound, bound) if bound else values
