"""
Tokens per second of language-model training, compared with the same model with torch's
`nn.LSTM(proj_size)`.
"""

import argparse
import copy
import platform
import statistics
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm import BiLM, BiLMOptions
from elmo_tasks.bilm.characters import tokens_to_ids
from elmo_tasks.bilm.lstm import LstmStack, State
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.text.stream import LmBatch

SMALL = {
    "dim": 768,
    "projection_dim": 160,
    "filters": ((1, 32), (2, 32), (3, 64), (4, 128), (5, 128), (6, 128)),
}
PAPER: dict[str, Any] = {}
TOLERANCE = 1e-4


class PlainStack(nn.Module):
    """
    `LstmStack` with torch's layers, for full batches of equally long rows, without
    clipping.
    """

    def __init__(self, stack: LstmStack) -> None:
        super().__init__()
        self.initial_states = stack.initial_states
        plain_layers = [_plain(layer) for layer in stack.layers]
        self.layers = nn.ModuleList(plain_layers)

    def forward(
        self,
        inputs: Tensor,
        batch_sizes: Sequence[int],
        states: Sequence[State],
        *,
        dropout: float,
        precision: None,
    ) -> tuple[list[Tensor], list[State]]:
        outputs: list[Tensor] = []
        finals: list[State] = []
        for layer, (cell, hidden) in zip(self.layers, states, strict=True):
            dropped = functional.dropout(inputs, dropout, training=dropout > 0.0)
            steps = dropped.view(len(batch_sizes), batch_sizes[0], -1)  # [T, B, P]
            found, (last_hidden, last_cell) = layer(steps, (hidden[None], cell[None]))
            inputs = found.flatten(0, 1)
            if outputs:  # a skip connection around all layers but the first
                inputs = inputs + dropped
            outputs.append(inputs)
            finals.append((last_cell[0], last_hidden[0]))
        return outputs, finals


def _plain(layer: Any) -> nn.LSTM:
    """The same weights in torch's order of gates: i, f, j, o instead of i, o, f, j."""
    plain = nn.LSTM(
        layer.input_weight.shape[1], layer.dim, proj_size=layer.projection_dim
    )
    with torch.no_grad():
        for name, ours in (
            ("weight_ih_l0", layer.input_weight),
            ("weight_hh_l0", layer.hidden_weight),
            ("bias_ih_l0", layer.bias + layer.forget_bias),
        ):
            i, o, f, j = ours.chunk(4)
            plain.get_parameter(name).copy_(torch.cat([i, f, j, o]))
        plain.get_parameter("bias_hh_l0").zero_()
        plain.get_parameter("weight_hr_l0").copy_(layer.projection)
    return plain


def random_batch(rows: int, steps: int, types: int, words: int, device: str) -> LmBatch:
    tokens = [f"{number * 7919 % 99991}" for number in range(types)]
    shape = (2, steps, rows)
    full = torch.ones(shape, dtype=torch.bool)
    batch = LmBatch(
        characters=torch.from_numpy(tokens_to_ids(tokens).astype("int64")),
        inputs=torch.randint(types, shape),
        targets=torch.randint(words, shape),
        mask=full,
        unknown=0,
    )
    return batch.to(device)


def seconds(model: BiLanguageModel, batch: LmBatch) -> float:
    """One forward and backward pass; the optimizer's step is the same for all."""
    model.zero_grad()
    synchronise(batch)
    start = time.perf_counter()
    model(batch).loss.backward()
    synchronise(batch)
    return time.perf_counter() - start


def synchronise(batch: LmBatch) -> None:
    """Wait for a GPU."""
    if batch.characters.is_cuda:
        torch.cuda.synchronize()


def models(
    options: BiLMOptions, words: int, negatives: int, device: str
) -> dict[str, BiLanguageModel]:
    softmax = OutputSoftmax(words, options.projection_dim, negatives=negatives)
    ours = BiLanguageModel(BiLM(options), softmax, dropout=0.1).train()
    plain = copy.deepcopy(ours)
    low = copy.deepcopy(ours)
    for name in ("forward_stack", "backward_stack"):
        setattr(plain.bilm, name, PlainStack(getattr(plain.bilm, name)))
    low.precision = "bfloat16"
    found = {
        "elmo_tasks, float32": ours,
        "elmo_tasks, bfloat16": low,
        "nn.LSTM(proj_size), float32": plain,
    }
    return {name: model.to(device) for name, model in found.items()}


def require_equal(found: dict[str, BiLanguageModel], batch: LmBatch) -> None:
    ours = found["elmo_tasks, float32"].eval()(batch).loss.item()
    theirs = found["nn.LSTM(proj_size), float32"].eval()(batch).loss.item()
    if abs(ours - theirs) > TOLERANCE * abs(ours):
        raise SystemExit(f"the losses differ: {ours}, {theirs}")
    for model in found.values():
        model.train()


def measure(name: str, sizes: dict[str, Any], arguments: argparse.Namespace) -> None:
    rows, steps, device = arguments.rows, arguments.unroll, arguments.device
    found = models(BiLMOptions(**sizes), arguments.words, arguments.negatives, device)
    batch = random_batch(rows, steps, arguments.types, arguments.words, device)
    require_equal(found, batch)
    times = {}
    for key, model in found.items():
        seconds(model, batch)  # the first call is slower
        times[key] = [seconds(model, batch) for _ in range(arguments.repeats)]
    plain = times["nn.LSTM(proj_size), float32"]
    for key, values in times.items():
        rates = [rows * steps / value for value in values]
        ratio = statistics.median(plain) / statistics.median(values)
        spread = f"{min(rates):.0f}-{max(rates):.0f}"
        rate = f"{statistics.median(rates):.0f}"
        print(f"| {name} | {key} | {rate} | {spread} | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--unroll", type=int, default=20)
    parser.add_argument(
        "--types", type=int, default=800, help="distinct tokens of a batch"
    )
    parser.add_argument("--words", type=int, default=30003)
    parser.add_argument("--negatives", type=int, default=4096)
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--sizes", nargs="+", choices=("small", "paper"), default=("small", "paper")
    )
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(13)
    print(
        f"torch {torch.__version__}, {arguments.threads} threads, {platform.machine()}, {arguments.device},",
        end=" ",
    )
    print(f"{arguments.rows} x {arguments.unroll} tokens a direction")
    print(
        "| size | | tokens/s, each direction, median | range | times nn.LSTM |\n|---|---|---|---|---|"
    )
    for name in arguments.sizes:
        measure(name, {"small": SMALL, "paper": PAPER}[name], arguments)


if __name__ == "__main__":
    main()
