"""Seconds per training step of SRL's encoder, compared with AllenNLP's on the same random weights."""

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import torch
from allennlp.modules.stacked_alternating_lstm import StackedAlternatingLstm
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from elmo_tasks.nn.highway_lstm import HighwayLstm, HighwayLstmLayer

TOLERANCE = 1e-4
WIDTH, HIDDEN, LAYERS, DROPOUT = 200, 300, 8, 0.1

Encode = Callable[[Tensor], Tensor]


def encoder(precision: str | None) -> HighwayLstm:
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


def step(encode: Encode, inputs: Tensor, module: torch.nn.Module) -> tuple[Tensor, ...]:
    module.zero_grad()
    inputs = inputs.detach().requires_grad_()
    outputs = encode(inputs)
    outputs.pow(2).mean().backward()
    return outputs.detach(), *(
        gradient for gradient in (inputs.grad,) if gradient is not None
    )


def seconds(encode: Encode, inputs: Tensor, module: torch.nn.Module) -> float:
    synchronise = torch.cuda.synchronize if inputs.is_cuda else lambda: None
    synchronise()
    start = time.perf_counter()
    step(encode, inputs, module)
    synchronise()
    return time.perf_counter() - start


def measure(rows: int, tokens: int, repeats: int, device: str) -> None:
    lengths = torch.full((rows,), tokens)
    mask = torch.ones(rows, tokens, dtype=torch.bool, device=device)
    inputs = torch.randn(rows, tokens, WIDTH, device=device)
    allennlp = StackedAlternatingLstm(WIDTH, HIDDEN, LAYERS, DROPOUT).to(device)
    ours, coarse = encoder(None).to(device), encoder("bfloat16").to(device)
    copy_weights(allennlp, ours)
    copy_weights(allennlp, coarse)

    def theirs(x: Tensor) -> Tensor:
        return pad_packed_sequence(
            allennlp(pack_padded_sequence(x, lengths, batch_first=True))[0],
            batch_first=True,
        )[0]

    runs: dict[str, tuple[Encode, torch.nn.Module]] = {
        "allennlp": (theirs, allennlp),
        "elmo_tasks": (lambda x: ours(x, mask), ours),
        "elmo_tasks, bfloat16 products": (lambda x: coarse(x, mask), coarse),
    }
    check({name: runs[name] for name in ("allennlp", "elmo_tasks")}, inputs)
    times = {
        name: [seconds(encode, inputs, module)]
        for name, (encode, module) in runs.items()
    }
    for _ in range(repeats):
        for name, (encode, module) in runs.items():
            times[name].append(seconds(encode, inputs, module))
    for name, values in times.items():
        warm = sorted(values[1:])
        ratio = statistics.median(
            a / b for a, b in zip(times["allennlp"][1:], values[1:], strict=True)
        )
        print(
            f"| {name} | {statistics.median(warm):.3f} | {warm[0]:.3f}-{warm[-1]:.3f} | {ratio:.2f} |"
        )


def check(runs: dict[str, tuple[Encode, torch.nn.Module]], inputs: Tensor) -> None:
    """Without dropout both give the same outputs and gradients."""
    results = [step(encode, inputs, module.eval()) for encode, module in runs.values()]
    for theirs, ours in zip(*results, strict=True):
        if (theirs - ours).abs().max() > TOLERANCE * theirs.abs().max():
            raise SystemExit("the encoders differ")
    for _, module in runs.values():
        module.train()


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
    place = (
        f"{arguments.threads} threads, {platform.machine()}"
        if arguments.device == "cpu"
        else arguments.device
    )
    print(
        f"torch {torch.__version__}, {place}; {size}, forward and backward in training mode"
    )
    print("| encoder | s, median | range | times as fast |\n|---|---|---|---|")
    measure(arguments.rows, arguments.tokens, arguments.repeats, arguments.device)


if __name__ == "__main__":
    main()
