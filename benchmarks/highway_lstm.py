"""
Seconds per training step of SRL's encoder, compared with AllenNLP's on the same random
weights.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import torch
from allennlp.modules.stacked_alternating_lstm import StackedAlternatingLstm
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_tasks.nn.encoders.highway_lstm import HighwayLstm, HighwayLstmLayer
from elmo_tasks.option_values import Precision

TOLERANCE = 1e-4
WIDTH = 200
HIDDEN = 300
LAYERS = 8
DROPOUT = 0.1

Encode = Callable[[Tensor], Tensor]
Run = tuple[Encode, torch.nn.Module]
"""A function, and the module that has its weights."""


def encoder(precision: Precision | None) -> HighwayLstm:
    return HighwayLstm(
        input_size=WIDTH,
        hidden_size=HIDDEN,
        num_layers=LAYERS,
        dropout=DROPOUT,
        precision=precision,
    )


def copy_weights(theirs: StackedAlternatingLstm, ours: HighwayLstm) -> None:
    with torch.no_grad():
        for layer, source in zip(ours.layers, theirs.lstm_layers, strict=True):
            if not isinstance(layer, HighwayLstmLayer):
                raise SystemExit("a layer of another class")
            layer.input_weight.copy_(source.cell.input_linearity.weight)
            layer.hidden_weight.copy_(source.cell.state_linearity.weight)
            layer.bias.copy_(source.cell.input_linearity.bias)
            layer.bias[: 5 * HIDDEN] += source.cell.state_linearity.bias


def step(
    encode: Encode, inputs: Tensor, module: torch.nn.Module
) -> tuple[Tensor, Tensor]:
    """The outputs, and the gradient of the inputs."""
    module.zero_grad()
    inputs = inputs.detach().requires_grad_()
    outputs = encode(inputs)
    outputs.pow(2).mean().backward()
    if inputs.grad is None:
        raise SystemExit("the inputs have no gradient")
    return outputs.detach(), inputs.grad


def synchronise(tensor: Tensor) -> None:
    """Wait for a GPU."""
    if tensor.is_cuda:
        torch.cuda.synchronize()


def seconds(encode: Encode, inputs: Tensor, module: torch.nn.Module) -> float:
    synchronise(inputs)
    start = time.perf_counter()
    step(encode, inputs, module)
    synchronise(inputs)
    return time.perf_counter() - start


def measure(rows: int, tokens: int, repeats: int, device: str) -> None:
    lengths = torch.full((rows,), tokens)
    mask = torch.ones(rows, tokens, dtype=torch.bool, device=device)
    inputs = torch.randn(rows, tokens, WIDTH, device=device)
    allennlp = StackedAlternatingLstm(WIDTH, HIDDEN, LAYERS, DROPOUT).to(device)
    ours = encoder(None).to(device)
    coarse = encoder("bfloat16").to(device)
    copy_weights(allennlp, ours)
    copy_weights(allennlp, coarse)

    def theirs(x: Tensor) -> Tensor:
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        outputs, _ = allennlp(packed)
        padded, _ = pad_packed_sequence(outputs, batch_first=True)
        return padded

    def in_float32(x: Tensor) -> Tensor:
        return ours(x, mask)

    def in_bfloat16(x: Tensor) -> Tensor:
        return coarse(x, mask)

    runs: dict[str, Run] = {
        "allennlp": (theirs, allennlp),
        "elmo_tasks": (in_float32, ours),
        "elmo_tasks, bfloat16 products": (in_bfloat16, coarse),
    }
    check(runs["allennlp"], runs["elmo_tasks"], inputs)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats + 1):
        for name, (encode, module) in runs.items():
            times[name].append(seconds(encode, inputs, module))
    slow = times["allennlp"][1:]
    for name, values in times.items():
        warm = values[1:]
        ratios = [a / b for a, b in zip(slow, warm, strict=True)]
        middle = f"{statistics.median(warm):.3f}"
        spread = f"{min(warm):.3f}-{max(warm):.3f}"
        print(f"| {name} | {middle} | {spread} | {statistics.median(ratios):.2f} |")


def check(theirs: Run, ours: Run, inputs: Tensor) -> None:
    """Without dropout both give the same outputs and gradients."""
    results = []
    for encode, module in (theirs, ours):
        results.append(step(encode, inputs, module.eval()))
        module.train()
    for expected, found in zip(results[0], results[1], strict=True):
        if (expected - found).abs().max() > TOLERANCE * expected.abs().max():
            raise SystemExit("the encoders differ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rows", type=int, default=80)
    parser.add_argument("--tokens", type=int, default=30)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(13)
    size = f"{arguments.rows} x {arguments.tokens} tokens, {LAYERS} layers of {HIDDEN}"
    place = arguments.device
    if place == "cpu":
        place = f"{arguments.threads} threads, {platform.machine()}"
    print(
        f"torch {torch.__version__}, {place}; {size}, forward and backward in training mode"
    )
    print("| encoder | s, median | range | times as fast |\n|---|---|---|---|")
    measure(arguments.rows, arguments.tokens, arguments.repeats, arguments.device)


if __name__ == "__main__":
    main()
