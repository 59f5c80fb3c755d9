"""
The vectors of a text, from the start of the program to its end: `elmo-tasks elmo` with
the bundled biLM, a loop over AllenNLP's biLM with the same files, as in flair's old
`ELMoEmbeddings`, and the encoding of the same sentences by a sentence transformer.

    PYTHONPATH=. python benchmarks/sentence_vectors.py TEXT [MINILM --peer PYTHON]

TEXT has one tokenized sentence a line. MINILM is a folder of sentence-transformers, and
PYTHON has that package; `make test-transformers5` builds such an environment. The
programs take turns. Ours writes all layers to HDF5; the loop keeps them in memory, 32
sentences at a time in the order of the text.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

BATCH = 32
OURS, LOOP, MINILM = "elmo-tasks elmo", "AllenNLP, a loop", "MiniLM"


class Measured(NamedTuple):
    """Of one program, its start included."""

    wall: float
    processor: float


def loop_over_allennlp(sentences: Sequence[Sequence[str]]) -> int:
    """The vectors of all sentences by AllenNLP's biLM; returns their number."""
    from elmo_tasks.host import load_allennlp
    from elmo_tasks.resources import embedded_bilm

    load_allennlp()
    import torch
    from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

    options, weights = embedded_bilm()
    bilm = _ElmoBiLm(str(options), str(weights)).eval()
    vectors = []
    rest = iter(sentences)
    with torch.no_grad():
        while batch := list(islice(rest, BATCH)):
            layers = torch.stack(bilm(batch_to_ids(batch))["activations"], 1)
            for words, of_sentence in zip(batch, layers, strict=True):
                # Without the marks of its begin and end
                vectors.append(of_sentence[:, 1 : len(words) + 1].numpy())
    return len(vectors)


def encode(folder: str, sentences: Sequence[str]) -> int:
    """The vectors of all sentences by a sentence transformer; returns their number."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu")
    return len(model.encode(list(sentences), batch_size=BATCH))


def measure(command: Sequence[str], threads: int) -> Measured:
    """Runs a command with so many threads."""
    variables = {"OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=os.environ | variables)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Measured(wall, processor)


def report(name: str, threads: int, tokens: int, runs: Sequence[Measured]) -> str:
    """A line of the table."""
    wall = [run.wall for run in runs]
    speed = tokens / statistics.median(wall)
    processor = statistics.median([run.processor for run in runs])
    seconds = f"{statistics.median(wall):.1f} ({min(wall):.1f}-{max(wall):.1f})"
    return f"| {name} | {threads} | {seconds} | {processor:.1f} | {speed:,.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n\n")[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("minilm", nargs="?", help="folder of a sentence transformer")
    parser.add_argument("--peer", default=sys.executable, help="its Python")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--run", choices=(LOOP, MINILM), help=argparse.SUPPRESS)
    given = parser.parse_args()
    lines = given.text.read_text("utf-8").splitlines()[: given.sentences]
    if given.run == LOOP:
        print(loop_over_allennlp([line.split() for line in lines]))
        return
    if given.run == MINILM:
        print(encode(given.minilm, lines))
        return
    tokens = sum([len(line.split()) for line in lines])
    print(f"{len(lines):,} sentences, {tokens:,} tokens")
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("\n".join(lines) + "\n", "utf-8")
        this = [__file__, str(text)]
        out = str(Path(folder) / "vectors.hdf5")
        commands = {
            OURS: [sys.executable, "-m", "elmo_tasks", "elmo", str(text), out]
            + ["--model", "bundled", "--force"],
            LOOP: [sys.executable, *this, "--run", LOOP],
        }
        if given.minilm:
            commands[MINILM] = [given.peer, *this, given.minilm, "--run", MINILM]
        print("| | threads | seconds | processor seconds | tokens/s |")
        print("|---|---|---|---|---|")
        for threads in given.threads:
            runs: dict[str, list[Measured]] = {name: [] for name in commands}
            for _ in range(given.repeats):
                for name, command in commands.items():
                    runs[name].append(measure(command, threads))
            for name, measured in runs.items():
                print(report(name, threads, tokens, measured), flush=True)


if __name__ == "__main__":
    main()
