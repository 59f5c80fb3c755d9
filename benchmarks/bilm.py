"""
Speed and memory of the biLM at the paper's size, compared with AllenNLP's on the same
random weights, and with the speed of its matrix products alone.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from elmo_tasks.bilm import BiLM, BiLMOptions, batch_to_ids
from elmo_tasks.bilm.lstm import TOKENS_AT_ONCE
from elmo_tasks.elmo.devices import cpu_products, cpu_type
from elmo_tasks.formats.text.text_files import open_text
from elmo_tasks.option_values import InferencePrecision

TOLERANCE = 1e-5

LIMITS = (
    "ONEDNN_MAX_CPU_ISA",
    "ATEN_CPU_CAPABILITY",
    "FBGEMM_ENABLE_INSTRUCTIONS",
    "MKL_ENABLE_INSTRUCTIONS",
)
"""Variables that keep libraries from some vector units of the processor."""

Run = Callable[[Tensor], Any]


def random_sentences(rows: int, tokens: int, draw: random.Random) -> list[list[str]]:
    """
    Random words of 1 to 9 letters: all tokens are different words, the worst case for
    the token encoder.
    """
    letters = "abcdefghijklmnopqrst"

    def sentence() -> list[str]:
        words = []
        for _ in range(tokens):
            length = draw.randint(1, 9)
            words.append("".join(draw.choice(letters) for _ in range(length)))
        return words

    return [sentence() for _ in range(rows)]


def running_text(file: str, rows: int, limit: int) -> Iterator[Tensor]:
    """Character ids of the first `limit` tokens of a text, in batches of lines."""
    lines = []
    seen = 0
    for _, line in open_text(file):
        words = line.split()
        if words:
            lines.append(words)
            seen += len(words)
        if len(lines) == rows or seen >= limit:
            yield batch_to_ids(lines)
            lines = []
        if seen >= limit:
            return


class Both:
    """Our biLM and AllenNLP's from the same files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = str(folder / "options.json"), str(folder / "weights.hdf5")

    def runs(self) -> dict[str, Run]:
        theirs = self.allennlp()
        return {
            "elmo_tasks, float32": self.ours("float32"),
            "elmo_tasks, bfloat16": self.ours("bfloat16"),
            "elmo_tasks, int8": self.ours("int8"),
            "allennlp": theirs,
        }

    def run(self, name: str) -> Run:
        """One of the runs."""
        if name == "allennlp":
            return self.allennlp()
        precision: Any = name.split()[-1]
        return self.ours(precision)

    def ours(self, precision: InferencePrecision) -> BiLM:
        return BiLM.from_files(*self.files, precision=precision, packed=True)

    def allennlp(self) -> Run:
        """
        AllenNLP's biLM; imported here, so that the memory of the others is without
        AllenNLP.
        """
        from allennlp.modules.elmo import _ElmoBiLm

        return _ElmoBiLm(*self.files).eval()


def require_equal(runs: dict[str, Run], ids: Tensor) -> None:
    """Checks that the layers are equal."""
    with_boundaries = runs["allennlp"](ids)["activations"]
    found = runs["elmo_tasks, float32"](ids).layers
    for ours, theirs in zip(found, with_boundaries, strict=True):
        if (ours - theirs[:, 1:-1]).abs().max() > TOLERANCE:
            raise SystemExit("the layers differ")


def seconds(run: Run, ids: Tensor) -> float:
    """Processor time of one thread, which other processes hardly change; else time."""
    clock = time.perf_counter
    if torch.get_num_threads() == 1:
        clock = time.process_time
    start = clock()
    run(ids)
    return clock() - start


class Products:
    """The matrix products of the LSTMs of a biLM, and nothing between them."""

    def __init__(self, bilm: BiLM) -> None:
        self.bilm = bilm

    def __call__(self, ids: Tensor) -> None:
        """As many as for character ids [B, T, C] without padding, of random vectors."""
        rows, tokens = ids.shape[:2]
        options = self.bilm.options
        inputs = torch.randn(rows * (tokens + 2), options.projection_dim)
        exposed = torch.randn(rows, options.dim)
        for stack in (self.bilm.forward_stack, self.bilm.backward_stack):
            for layer in stack.layers:
                names = "input_weight", "hidden_weight", "projection"
                dtype = self.bilm.product_dtype or self.bilm.dtype
                to_gates, recur, project = [
                    layer.linear(name, dtype=dtype, grad=False) for name in names
                ]
                for part in inputs.split(max(TOKENS_AT_ONCE, rows)):
                    to_gates(part)
                for _ in range(tokens + 2):
                    recur(inputs[:rows])
                    project(exposed)

    def gflop(self, ids: Tensor) -> float:
        """Floating-point operations of a call, in 10^9."""
        rows, tokens = ids.shape[:2]
        options = self.bilm.options
        layer = 9 * options.dim * options.projection_dim  # weights of a direction
        return 2 * rows * (tokens + 2) * 2 * options.n_layers * layer / 1e9


def table(case: str, times: dict[str, list[float]], tokens: list[int]) -> None:
    """Tokens per second, and the ratio to AllenNLP's, by repeat."""
    for name, values in times.items():
        rates = []
        ratios = []
        for count, ours, theirs in zip(tokens, values, times["allennlp"], strict=True):
            rates.append(count / ours)
            ratios.append(theirs / ours)
        rate = f"{statistics.median(rates):.0f}"
        spread = f"{min(rates):.0f}-{max(rates):.0f}"
        ratio = f"{statistics.median(ratios):.2f}"
        print(f"| {case} | {name} | {rate} | {spread} | {ratio} |", flush=True)


def measure_layers(both: Both, rows: int, tokens: int, repeats: int) -> None:
    """
    Prints the table; every repeat has different words, so that no word vector is
    cached.
    """
    draw = random.Random(13)
    runs = both.runs()
    batches = []
    for _ in range(repeats + 1):
        batches.append(batch_to_ids(random_sentences(rows, tokens, draw)))
    require_equal(runs, batches[0])
    times: dict[str, list[float]] = {}
    for ids in batches[1:]:
        for name, run in runs.items():
            times.setdefault(name, []).append(seconds(run, ids))
    table(f"{rows} x {tokens}", times, [rows * tokens] * repeats)


def measure_products(both: Both, rows: int, tokens: int, repeats: int) -> None:
    """Prints the rate of the products, and their share of the time, of each precision."""
    draw = random.Random(13)
    ids = batch_to_ids(random_sentences(rows, tokens, draw))
    for precision in ("float32", "bfloat16", "int8"):
        bilm = both.ours(precision)
        products = Products(bilm)
        rates = []
        shares = []
        for _ in range(repeats):
            whole = seconds(bilm, ids)
            alone = seconds(products, ids)
            rates.append(products.gflop(ids) / alone)
            shares.append(alone / whole)
        rate = f"{statistics.median(rates):.0f} | {min(rates):.0f}-{max(rates):.0f}"
        share = f"{statistics.median(shares):.2f}"
        print(f"| {rows} x {tokens} | {precision} | {rate} | {share} |", flush=True)


def measure_token_encoder(both: Both, file: str, repeats: int, limit: int) -> None:
    """
    Token encoder on running text in batches of 32 lines, starting with an empty cache.
    """
    from allennlp.modules.elmo import _ElmoCharacterEncoder

    batches = list(running_text(file, 32, limit))
    count = 0
    for ids in batches:
        count += int((ids > 0).any(2).sum())
    times: dict[str, list[float]] = {}
    for _ in range(repeats):
        theirs = _ElmoCharacterEncoder(*both.files).eval()
        runs: dict[str, Run] = {
            "elmo_tasks, float32": _token_vectors(both.ours("float32")),
            "elmo_tasks, bfloat16": _token_vectors(both.ours("bfloat16")),
            "allennlp": theirs,
        }
        for name, run in runs.items():
            taken = sum(seconds(run, ids) for ids in batches)
            times.setdefault(name, []).append(taken)
    table(f"token encoder, {count:,} tokens of text", times, [count] * repeats)


def _token_vectors(bilm: BiLM) -> Run:
    def run(ids: Tensor) -> Tensor:
        return bilm.encode_types(ids[(ids > 0).any(2)])

    return run


def measure_memory(both: Both, rows: int, tokens: int) -> None:
    """Peak memory, each in a separate process."""
    for name in ("elmo_tasks, float32", "elmo_tasks, bfloat16", "allennlp"):
        command = [sys.executable, __file__, "--peak-of", name]
        command += [str(both.folder), str(rows), str(tokens)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        print(done.stdout, end="", flush=True)


def print_peak(both: Both, name: str, rows: int, tokens: int) -> None:
    """GB of this process before and after one batch."""
    ids = batch_to_ids(random_sentences(rows, tokens, random.Random(13)))
    run = both.run(name)
    before = held("VmRSS")
    run(ids)
    print(f"| {rows} x {tokens} | {name} | {held('VmHWM'):.2f} | {before:.2f} |")


def held(key: str) -> float:
    """GB of resident memory, now (`VmRSS`) or at the peak (`VmHWM`); Linux only."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024 / 1e9
    raise SystemExit(f"/proc/self/status has no {key}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--text",
        default="fixtures/miniworld/lm/heldout.miniworld.txt",
        help="for the token encoder",
    )
    parser.add_argument("--text-tokens", type=int, default=10000)
    parser.add_argument(
        "--long-text",
        type=int,
        default=2000,
        help="tokens of the one sentence whose memory is taken",
    )
    parser.add_argument("--peak-of", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_grad_enabled(False)
    torch.manual_seed(13)
    if arguments.peak_of:
        name, folder, rows, tokens = arguments.peak_of
        print_peak(Both(Path(folder)), name, int(rows), int(tokens))
        return
    with tempfile.TemporaryDirectory() as folder:
        both = Both(Path(folder))
        BiLM(BiLMOptions()).save_files(*both.files)
        print_machine(arguments.threads)
        print(
            "| | | tokens/s, median | range | times allennlp |\n|---|---|---|---|---|"
        )
        for rows in (32, 1):
            measure_layers(both, rows, 25, arguments.repeats)
        measure_token_encoder(
            both, arguments.text, max(1, arguments.repeats // 3), arguments.text_tokens
        )
        print(
            "\n| | | GFLOP/s of the LSTMs' products | range | share of the time |"
            "\n|---|---|---|---|---|"
        )
        for rows in (32, 1):
            measure_products(both, rows, 25, arguments.repeats)
        print("\n| | | peak, GB | before the batch |\n|---|---|---|---|")
        measure_memory(both, 32, 25)
        measure_memory(both, 1, arguments.long_text)


def print_machine(threads: int) -> None:
    """The processor, and what keeps libraries from its vector units."""
    print(f"torch {torch.__version__}, {threads} threads, 4096/512, random weights")
    print(f"{cpu_type()}; vector units: {cpu_products()}")
    limits = [f"{name}={os.environ[name]}" for name in LIMITS if name in os.environ]
    print(f"limited by: {' '.join(limits) or 'nothing'}\n")


if __name__ == "__main__":
    main()
