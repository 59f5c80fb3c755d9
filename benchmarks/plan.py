"""
Hours, bytes and cost of vectors and of a pre-training for 10^9 and 10^12 tokens: `python benchmarks/plan.py` prints the
tables of docs/SCALE.md. Measured constants name their section of docs/PERFORMANCE.md; assumptions can be given.
"""

import argparse
from collections.abc import Iterator

from elmo_tasks.bilm import BiLMOptions

MEASURED = {"float32": 841 / 2, "bfloat16": 1439 / 2}
"""Tokens a second and core of the paper's biLM: "biLM inference", 32 x 25 on two cores of an AMD EPYC (Zen 5)."""

TRAINED = 64 * 20 / 24.8
"""Tokens a second and core: "Scale `paper` on random corpora", the biLM, one thread beside another process."""

CHECKPOINT = 2.007e9 + 2.003e9
"""Bytes, weights and training state: the same row."""

TOKENS = (10**9, 10**12)
KINDS = {
    "all layers, float32": (3, 4),
    "all layers, float16": (3, 2),
    "one layer or a mix, float16": (1, 2),
}


def flop_per_token(options: BiLMOptions) -> int:
    """Of the LSTMs' matrix products in a forward pass; the token encoder is cached by word."""
    cells, width = options.dim, options.projection_dim
    return 2 * 2 * options.n_layers * (4 * cells * 2 * width + cells * width)


def vectors(prices: argparse.Namespace) -> Iterator[list[str]]:
    """Rows: hours and cost of computing, then bytes and cost of storing."""
    yield [
        "vectors of",
        *(f"{tokens:.0e} tokens".replace("e+", "e") for tokens in TOKENS),
    ]
    for precision, speed in MEASURED.items():
        yield [
            f"core hours, {precision}",
            *(number(tokens / speed / 3600) for tokens in TOKENS),
        ]
        costs = (tokens / speed / 3600 * prices.core_hour for tokens in TOKENS)
        yield [f"cost, {precision}, $", *map(number, costs)]
    flop = flop_per_token(BiLMOptions()) / (prices.tflops * 1e12 * prices.utilisation)
    yield [
        "GPU hours, not measured",
        *(number(tokens * flop / 3600) for tokens in TOKENS),
    ]
    shard = prices.shard_minutes * 60 * MEASURED["bfloat16"]
    yield [
        f"shards of {prices.shard_minutes} core minutes",
        *(number(tokens / shard) for tokens in TOKENS),
    ]
    hours = [tokens / MEASURED["bfloat16"] / 3600 / prices.cores for tokens in TOKENS]
    yield [f"days on {prices.cores:,} cores", *(number(value / 24) for value in hours)]
    nodes = prices.cores / prices.cores_per_node
    yield [
        "nodes lost in that time",
        *(number(value / 24 / prices.node_days * nodes) for value in hours),
    ]
    for kind, (layers, size) in KINDS.items():
        bytes_ = [
            tokens * layers * 2 * BiLMOptions().projection_dim * size
            for tokens in TOKENS
        ]
        yield [f"TB, {kind}", *(number(value / 1e12) for value in bytes_)]
        yield [
            f"$ a month, {kind}",
            *(number(value / 1e9 * prices.gigabyte_month) for value in bytes_),
        ]


def training(prices: argparse.Namespace) -> Iterator[list[str]]:
    """Rows of one pass of pre-training at the paper's size."""
    yield [
        "one pass of pre-training over",
        *(f"{tokens:.0e} tokens".replace("e+", "e") for tokens in TOKENS),
    ]
    yield ["core hours", *(number(tokens / TRAINED / 3600) for tokens in TOKENS)]
    flop = (
        3 * flop_per_token(BiLMOptions()) / (prices.tflops * 1e12 * prices.utilisation)
    )
    yield [
        "GPU hours, not measured",
        *(number(tokens * flop / 3600) for tokens in TOKENS),
    ]
    yield ["GB of a checkpoint", *(number(CHECKPOINT / 1e9) for _ in TOKENS)]


def number(value: float) -> str:
    """Two digits."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def tables(prices: argparse.Namespace) -> str:
    """Markdown."""
    parts = []
    for first, *rest in (list(vectors(prices)), list(training(prices))):
        rows = [first, ["---"] * len(first), *rest]
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
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
