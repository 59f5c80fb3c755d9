"""Tokens per second of the biLM at the paper's size beside AllenNLP's, on the same random weights in the same run."""

import argparse
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from allennlp.modules.elmo import _ElmoBiLm
from torch import Tensor

from elmo_tasks.elmo import BiLm, BiLmOptions, batch_to_ids

TOLERANCE = 1e-5


def sentences(rows: int, tokens: int) -> list[list[str]]:
    """Random words of 1 to 9 letters: every token of its own type, the worst case for the token encoder."""
    draw = random.Random(13)
    word = lambda: "".join(draw.choice("abcdefghijklmnopqrst") for _ in range(draw.randint(1, 9)))  # noqa: E731
    return [[word() for _ in range(tokens)] for _ in range(rows)]


def seconds(run: Callable[[Tensor], object], ids: Tensor) -> float:
    start = time.perf_counter()
    run(ids)
    return time.perf_counter() - start


def measure(rows: int, tokens: int, repeats: int, folder: Path) -> None:
    options, weights = folder / "options.json", folder / "weights.hdf5"
    ids = batch_to_ids(sentences(rows, tokens))
    ours, theirs = BiLm.from_files(options, weights), _ElmoBiLm(str(options), str(weights))
    theirs.eval()
    with torch.no_grad():
        ahead = theirs(ids)["activations"]
        for layer, expected in zip(ours(ids).layers, ahead, strict=True):
            if (layer - expected[:, 1:-1]).abs().max() > TOLERANCE:
                raise SystemExit("the layers differ")
        times = [(seconds(ours, ids), seconds(theirs, ids)) for _ in range(repeats)]
    for name, values in zip(("elmo_tasks", "allennlp"), zip(*times, strict=True), strict=True):
        rates = sorted(rows * tokens / value for value in values)
        print(f"| {rows} x {tokens} | {name} | {statistics.median(rates):.0f} | {rates[0]:.0f}-{rates[-1]:.0f} |")
    ratio = statistics.median(theirs / ours for ours, theirs in times)
    print(f"| {rows} x {tokens} | ratio | {ratio:.2f} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(13)
    print(f"torch {torch.__version__}, {arguments.threads} threads, {platform.machine()}, 4096/512, float32")
    print("| batch | | tokens/s, median | range |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        BiLm(BiLmOptions()).save_files(folder / "options.json", folder / "weights.hdf5")
        for rows in (32, 1):
            measure(rows, 25, arguments.repeats, folder)


if __name__ == "__main__":
    main()
