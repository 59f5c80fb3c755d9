"""
Hours, bytes and cost of vectors and of a pre-training for 10^9 and 10^12 tokens:
`python benchmarks/plan.py` prints the tables of docs/results/scale.md. Measured constants
name their section of docs/PERFORMANCE.md; assumptions can be given.
"""

import argparse
from collections.abc import Iterator

from elmo_tasks.bilm import BiLMOptions

MEASURED = {"float32": 947, "bfloat16": 1686}
"""
Tokens a second and core of the paper's biLM: "biLM inference", 32 x 25 with one thread
of an AMD EPYC (Zen 5) whose other core was idle. Each worker has one thread.
"""

TRAINED = 64 * 20 / 24.8
"""
Tokens a second and core: "Scale `paper` on random corpora", the biLM, one thread beside
another process.
"""

CHECKPOINT = 2.007e9 + 2.003e9
"""Bytes, weights and training state: the same row."""

TOKENS = (10**9, 10**12)
KINDS = {
    "all layers, float32": (3, 4),
    "all layers, float16": (3, 2),
    "one layer or a mix, float16": (1, 2),
}


def flop_per_token(options: BiLMOptions) -> int:
    """
    Of the LSTMs' matrix products in a forward pass; the token encoder is cached by
    word.
    """
    cells, width = options.dim, options.projection_dim
    return 2 * 2 * options.n_layers * (4 * cells * 2 * width + cells * width)


def vectors(prices: argparse.Namespace) -> Iterator[list[str]]:
    """Rows: hours and cost of computing, then bytes and cost of storing."""
    yield heading("vectors of")
    for precision, speed in MEASURED.items():
        core_hours = 1 / speed / 3600
        yield row(f"core hours, {precision}", core_hours)
        yield row(f"cost, {precision}, $", core_hours * prices.core_hour)
    flop = flop_per_token(BiLMOptions())
    yield row("GPU hours, not measured", flop / flop_per_hour(prices))
    shard = prices.shard_minutes * 60 * MEASURED["bfloat16"]
    yield row(f"shards of {prices.shard_minutes} core minutes", 1 / shard)
    days = 1 / MEASURED["bfloat16"] / 3600 / 24 / prices.cores
    yield row(f"days on {prices.cores:,} cores", days)
    nodes = prices.cores / prices.cores_per_node
    yield row("nodes lost in that time", days / prices.node_days * nodes)
    for kind, (layers, size) in KINDS.items():
        size_of_token = layers * 2 * BiLMOptions().projection_dim * size  # bytes
        yield row(f"TB, {kind}", size_of_token / 1e12)
        cost = size_of_token / 1e9 * prices.gigabyte_month
        yield row(f"$ a month, {kind}", cost)


def training(prices: argparse.Namespace) -> Iterator[list[str]]:
    """Rows of one pass of pre-training at the paper's size."""
    yield heading("one pass of pre-training over")
    yield row("core hours", 1 / TRAINED / 3600)
    flop = 3 * flop_per_token(BiLMOptions())  # forward and backward
    yield row("GPU hours, not measured", flop / flop_per_hour(prices))
    yield ["GB of a checkpoint"] + [number(CHECKPOINT / 1e9)] * len(TOKENS)


def flop_per_hour(prices: argparse.Namespace) -> float:
    """Of a GPU."""
    return prices.tflops * 1e12 * prices.utilisation * 3600


def heading(name: str) -> list[str]:
    """The first row of a table: the numbers of tokens."""
    cells = [name]
    for tokens in TOKENS:
        cells.append(f"{tokens:.0e} tokens".replace("e+", "e"))
    return cells


def row(name: str, per_token: float) -> list[str]:
    """A row: an amount that is proportional to the number of tokens."""
    return [name] + [number(tokens * per_token) for tokens in TOKENS]


def number(value: float) -> str:
    """Two digits."""
    rounded = float(f"{value:.2g}")
    if rounded >= 10:
        return f"{rounded:,.0f}"
    return f"{rounded:g}"


def tables(prices: argparse.Namespace) -> str:
    """Markdown."""
    parts = []
    for table in (list(vectors(prices)), list(training(prices))):
        rule = ["---"] * len(table[0])
        table.insert(1, rule)
        lines = [f"| {' | '.join(cells)} |" for cells in table]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def parser() -> argparse.ArgumentParser:
    """The assumptions."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    made.add_argument(
        "--core-hour", type=float, default=0.04, help="price of a core hour, $"
    )
    made.add_argument(
        "--gigabyte-month",
        type=float,
        default=0.02,
        help="price of storing a GB for a month, $",
    )
    made.add_argument("--tflops", type=float, default=400, help="of a GPU in bfloat16")
    made.add_argument(
        "--utilisation",
        type=float,
        default=0.1,
        help="share of them that an LSTM reaches; bilm-tf did on its GPUs",
    )
    made.add_argument("--shard-minutes", type=int, default=30)
    made.add_argument("--cores", type=int, default=1000)
    made.add_argument("--cores-per-node", type=int, default=32)
    made.add_argument(
        "--node-days",
        type=float,
        default=30,
        help="days until a node is lost, on average",
    )
    return made


if __name__ == "__main__":
    print(tables(parser().parse_args()), end="")
