"""
Seconds and peak memory of the two models whose memory grows with the text, question
answering and coreference: the configs at scale `paper`, on random texts with the
official file names, each case in a separate process.
"""

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from allennlp.common import Params
from allennlp.common.plugins import import_plugins
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from allennlp.models import Model
from allennlp.training.optimizers import Optimizer

from elmo_tasks.bilm import BiLM
from elmo_tasks.bilm.options import BiLMOptions

SENTENCE = 25
PASSAGE = 400
LONGEST = 780
QUESTION = 30
"""Words of each."""
BATCH = 45
"""Passages."""
CASES = {
    "coref": [
        ("train", 1000),
        ("decode", 500),
        ("decode", 1000),
        ("decode", 2000),
        ("decode", 4000),
        ("decode", 5000),
    ],
    "squad": [("train", PASSAGE), ("train", LONGEST), ("decode", PASSAGE)],
}
CONFIGS = Path(__file__).resolve().parents[1] / "training_config"


def all_words() -> list[str]:
    words = []
    for first in "bdfgklmnprst":
        for second in ("ana", "eri", "ido", "olu", "una", "ime"):
            words.append(first + second)
    return words


WORDS = all_words()


def text(words: int) -> list[str]:
    return [random.choice(WORDS) for _ in range(words)]


def write_coref(folder: Path, words: int) -> None:
    lines = ["#begin document (nw/random); part 000"]
    for start in range(0, words, SENTENCE):
        for place, word in enumerate(text(SENTENCE)):
            cluster = "-"
            if random.random() < 0.15:
                cluster = f"({random.randrange(words // 20)})"
            speaker = f"S{start % 3}"
            lines.append(f"nw/random 0 {place} {word} NN * - - - {speaker} * {cluster}")
        lines.append("")
    lines.append("#end document")
    (folder / "coref").mkdir()
    (folder / "coref" / "train.gold_conll").write_text("\n".join(lines) + "\n")


def write_squad(folder: Path, words: int) -> None:
    paragraphs = []
    for number in range(BATCH):
        context = text(words)
        answer = {"text": context[0], "answer_start": 0}
        question = {
            "id": str(number),
            "question": " ".join(text(QUESTION)),
            "answers": [answer],
        }
        paragraphs.append({"context": " ".join(context), "qas": [question]})
    data = {"version": "1.1", "data": [{"title": "random", "paragraphs": paragraphs}]}
    (folder / "squad").mkdir()
    (folder / "squad" / "train-v1.1.json").write_text(json.dumps(data))


def write_vectors(folder: Path) -> None:
    (folder / "vectors").mkdir()
    for name, width in (("glove.840B.300d", 300), ("turian.50d", 50)):
        rows = []
        for word in WORDS:
            numbers = [f"{random.gauss(0, 0.4):.3f}" for _ in range(width)]
            rows.append(" ".join([word] + numbers))
        (folder / "vectors" / f"{name}.txt").write_text("\n".join(rows) + "\n")


def write_bilm(folder: Path) -> None:
    """A random biLM of the released size."""
    (folder / "bilm").mkdir()
    BiLM(BiLMOptions()).save_files(
        folder / "bilm" / "options.json", folder / "bilm" / "weights.hdf5"
    )


def run(task: str, mode: str, words: int, elmo: bool) -> dict[str, float]:
    """One case, in this process."""
    random.seed(1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        name = task
        if task == "coref":
            write_coref(folder, words)
        else:
            write_squad(folder, words)
        write_vectors(folder)
        if elmo:
            name = f"{task}_elmo"
            write_bilm(folder)
        os.environ["ELMO_TASKS_DATA"] = str(folder)
        import_plugins()
        params = Params.from_file(CONFIGS / "paper" / f"{name}.jsonnet")
        reader = DatasetReader.from_params(params["dataset_reader"])
        instances = list(reader.read(params["train_data_path"]))
        vocab = Vocabulary.from_instances(instances)
        model = Model.from_params(vocab=vocab, params=params["model"])
    optimizer = Optimizer.from_params(
        params["trainer"]["optimizer"],
        model_parameters=[list(pair) for pair in model.named_parameters()],
    )
    before = peak()
    start = time.perf_counter()
    step(model, instances, optimizer if mode == "train" else None)
    return {"seconds": time.perf_counter() - start, "before": before, "peak": peak()}


def step(
    model: Model, instances: list[Instance], optimizer: torch.optim.Optimizer | None
) -> None:
    if optimizer is None:
        model.eval()
        model.forward_on_instances(instances)
        return
    batch = Batch(instances)
    batch.index_instances(model.vocab)
    model.train()
    model(**batch.as_tensor_dict())["loss"].backward()
    optimizer.step()


def peak() -> float:
    """Peak memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=CASES, nargs="+", default=list(CASES))
    parser.add_argument(
        "--elmo", action="store_true", help="with a random biLM of the released size"
    )
    parser.add_argument(
        "--case", nargs=3, metavar=("TASK", "MODE", "WORDS"), help=argparse.SUPPRESS
    )
    args = parser.parse_args()
    if args.case:
        task, mode, words = args.case
        print(json.dumps(run(task, mode, int(words), args.elmo)))
        return
    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}, elmo: {args.elmo}\n"
    )
    print(
        "| task | | words | seconds | peak memory, GB | of it before the batch |\n|---|---|---|---|---|---|"
    )
    for task in args.task:
        for mode, words in CASES[task]:
            command = [sys.executable, __file__, "--case", task, mode, str(words)]
            if args.elmo:
                command.append("--elmo")
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            sizes = f"{found['peak']:.2f} | {found['before']:.2f}"
            print(
                f"| {task} | {mode} | {words} | {found['seconds']:.1f} | {sizes} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
