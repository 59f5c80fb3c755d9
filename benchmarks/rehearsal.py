"""
Scale `paper` without the corpora: random ones of the official sizes in the official
formats, and for each task with ELMo, and for the biLM, a training of a few steps, a
validation, a checkpoint, `--recover` and `evaluate`.

    python benchmarks/rehearsal.py generate FOLDER
    python benchmarks/rehearsal.py run FOLDER [NAME...]

Words are drawn by Zipf's law, and mean nothing; sizes, lengths and numbers of types are
the official ones, but for GloVe (400,000 words) and the 1 Billion Word Benchmark (three
shards, two held-out files). Needs 8 GB of disk and 10 GB of memory. A row of the
results is `FOLDER/out/NAME.json`.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks import resources
from elmo_tasks.bilm import BiLM
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.cli.main import main as elmo_tasks

CONFIGS = Path(__file__).resolve().parents[1] / "training_config"
WORDS = 793_471
"""Types of the 1 Billion Word Benchmark."""
GLOVE_WORDS = 400_000
GLOVE = {
    "glove.6B.50d": 50,
    "glove.6B.100d": 100,
    "glove.840B.300d": 300,
    "turian.50d": 50,
}
TREE = "conll-2012/v4/data/{0}/data/english/annotations/nw/random/{1:02}/random_{2:04}.v4_gold_conll"
LM_FOLDER = "lm/1-billion-word-language-modeling-benchmark-r13output"
SHARDS = {
    "training": (3, "news.en-{:05}-of-00100", 303_465),
    "heldout": (2, "news.en.heldout-{:05}-of-00050", 6_075),
}
ONTONOTES = {
    "train": (2_802, 75_187),
    "development": (343, 9_603),
    "test": (348, 9_479),
}

# Steps of each of the two epochs, batches of the validation and of `evaluate`, the file
# that `evaluate` reads.
TASKS: dict[str, tuple[int, int, str]] = {
    "sst": (20, 4, "sst/test.txt"),
    "ner": (6, 4, "ner/eng.testb"),
    "snli": (20, 4, "snli/snli_1.0_test.jsonl"),
    "srl": (4, 2, "conll-2012/v4/data/test/data/english"),
    "coref": (4, 2, "conll-2012/v4/data/test/data/english"),
    "squad": (2, 1, "squad/dev-v1.1.json"),
    "bilm": (6, 1, "lm"),
}
LM_TOKENS = 200
LM_ROWS = 64  # 384 rows need 14 GB
STOP = "REHEARSAL_STOP"


class Text:
    """
    Random words: `types` different ones, by log-uniform ranks, in sentences of about
    `length` words.
    """

    def __init__(self, words: list[str], types: int, seed: int) -> None:
        self.words = words
        self.types = types
        self.generator = np.random.default_rng(seed)
        self.random = random.Random(seed)

    def take(self, count: int) -> list[str]:
        logarithms = self.generator.random(count) * np.log(self.types)
        ranks = np.exp(logarithms).astype(int) - 1
        return [self.words[rank] for rank in ranks]

    def length(self, mean: float, least: int = 1, most: int = 10**6) -> int:
        return int(np.clip(self.generator.gamma(4.0, mean / 4.0), least, most))

    def sentence(self, mean: float, least: int = 3) -> list[str]:
        return self.take(self.length(mean, least) - 1) + ["."]


def word_list() -> list[str]:
    """Distinct words, the more frequent ones shorter; 4 to 10 letters."""
    letters = random.Random(1)
    frequent = ["the", ",", ".", "of", "to", "and", "a", "in", "-LRB-", "-RRB-"]
    found = dict.fromkeys(frequent)
    while len(found) < WORDS - 3:
        size = 2 + min(8, len(found).bit_length() // 2) - letters.randrange(3)
        word = "".join(letters.choices("etaoinshrdlucmfwypvbgk", k=max(2, size)))
        if letters.random() < 0.2:
            word = word.capitalize()
        found[word] = None
    return list(found)


def write(path: Path, lines: Iterator[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    print(f"{path.stat().st_size / 1e6:10.1f} MB  {path}", flush=True)


def generate(root: Path) -> None:
    words = word_list()
    sst = Text(words, 19_500, 2)
    for split, count in {"train": 8_544, "dev": 1_101, "test": 2_210}.items():
        trees = (tree(sst, sst.sentence(19.1)) for _ in range(count))
        write(root / "sst" / f"{split}.txt", trees)
    ner = Text(words, 26_000, 3)
    snli = Text(words, 42_000, 4)
    for split, count in {"train": 14_041, "testa": 3_250, "testb": 3_453}.items():
        write(root / "ner" / f"eng.{split}", ner_lines(ner, count))
    for split, count in {"train": 549_367, "dev": 9_842, "test": 9_824}.items():
        write(root / f"snli/snli_1.0_{split}.jsonl", snli_lines(snli, count))
    squad = Text(words, 110_000, 5)
    train = squad_json(squad, paragraphs=18_896, questions=87_599, answers=1)
    write(root / "squad/train-v1.1.json", iter([train]))
    dev = squad_json(squad, paragraphs=2_067, questions=10_570, answers=3)
    write(root / "squad/dev-v1.1.json", iter([dev]))
    ontonotes = Text(words, 60_000, 6)
    for split, (documents, sentences) in ONTONOTES.items():
        for number in range(documents):
            path = root / TREE.format(split, number // 100, number)
            path.parent.mkdir(parents=True, exist_ok=True)
            count = len(shares(sentences, documents, number))
            lines = document(ontonotes, number, count)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write(root / "lm/vocab-2016-09-10.txt", iter(["<S>", "</S>", "<UNK>"] + words))
    news = Text(words, len(words), 7)
    for part, (shards, name, sentences) in SHARDS.items():
        folder = root / LM_FOLDER / f"{part}-monolingual.tokenized.shuffled"
        first = 1 if part == "training" else 0
        for number in range(first, first + shards):
            lines = (" ".join(news.sentence(25.6)) for _ in range(sentences))
            write(folder / name.format(number), lines)
    for glove, width in GLOVE.items():
        write(root / f"vectors/{glove}.txt", vector_lines(words[:GLOVE_WORDS], width))
    (root / "bilm").mkdir(exist_ok=True)
    released = root / "bilm/elmo_2x4096_512_2048cnn_2xhighway"
    BiLM(BiLMOptions()).save_files(
        Path(f"{released}_options.json"), Path(f"{released}_weights.hdf5")
    )


def shares(total: int, parts: int, number: int) -> range:
    """
    The part with this number where 0, 1, ... are split into parts of about the same
    size.
    """
    return range(total * number // parts, total * (number + 1) // parts)


def tree(text: Text, words: list[str]) -> str:
    """A binary tree of random shape with random labels."""
    parts = [f"({text.random.randrange(5)} {word.replace('(', '-')})" for word in words]
    while len(parts) > 1:
        place = text.random.randrange(len(parts) - 1)
        label = text.random.randrange(5)
        left, right = parts[place : place + 2]
        parts[place : place + 2] = [f"({label} {left} {right})"]
    return parts[0]


def ner_lines(text: Text, sentences: int) -> Iterator[str]:
    for number in range(sentences):
        if number % 15 == 0:
            yield "-DOCSTART- -X- -X- O\n"
        for word in text.sentence(14.5):
            tag = "O"
            if text.random.random() < 0.17:
                tag = text.random.choice(("I-PER", "I-LOC", "I-ORG", "I-MISC"))
            yield f"{word} NN I-NP {tag}"
        yield ""


def snli_lines(text: Text, pairs: int) -> Iterator[str]:
    for number in range(pairs):
        if number % 3 == 0:
            premise = text.sentence(14.1)
        hypothesis = text.sentence(8.3)
        label = ("entailment", "neutral", "contradiction")[text.random.randrange(3)]
        record: dict[str, Any] = {
            "annotator_labels": [label],
            "captionID": f"{number}.jpg#0",
            "gold_label": label,
        }
        record["pairID"] = f"{number}.jpg#0r1e"
        for place, words in (("sentence1", premise), ("sentence2", hypothesis)):
            leaves = " ".join([f"(NN {word})" for word in words])
            closed = "".join([f" {word} )" for word in words[1:]])
            record[place] = " ".join(words)
            record[f"{place}_parse"] = f"(ROOT {leaves})"
            record[f"{place}_binary_parse"] = "( " * len(words[1:]) + words[0] + closed
        yield json.dumps(record)


def squad_json(text: Text, *, paragraphs: int, questions: int, answers: int) -> str:
    """A file; each question has so many equal answers."""
    found = []
    for number in range(paragraphs):
        words = text.take(text.length(117, 20, 650))
        qas = []
        for place in shares(questions, paragraphs, number):
            answer = squad_answer(text, words)
            asked = text.take(text.length(10, 4)) + ["?"]
            record = {
                "id": f"{place:024x}",
                "question": " ".join(asked),
                "answers": [answer] * answers,
            }
            qas.append(record)
        found.append({"context": " ".join(words), "qas": qas})
    articles = []
    for place in range(0, len(found), 43):
        article = {"title": str(place), "paragraphs": found[place : place + 43]}
        articles.append(article)
    return json.dumps({"version": "1.1", "data": articles})


def squad_answer(text: Text, words: list[str]) -> dict[str, Any]:
    """One to four words of a passage."""
    first = text.random.randrange(len(words) - 4)
    answer = " ".join(words[first : first + text.random.randint(1, 4)])
    start = len(" ".join(words[:first] + [""]))
    return {"text": answer, "answer_start": start}


def document(text: Text, number: int, sentences: int) -> Iterator[str]:
    """
    CoNLL-2012 columns: three or four predicates a sentence, 55 mentions of 12 entities
    per 460 words.
    """
    key = f"nw/random/{number // 100:02}/random_{number:04}"
    chance = text.random
    yield f"#begin document ({key}); part 000"
    for _ in range(sentences):
        words = text.sentence(17.3)
        count = min(len(words) - 1, chance.choice((2, 3, 4, 5)))
        predicates = sorted(chance.sample(range(len(words)), count))
        columns = [role_column(predicate, len(words)) for predicate in predicates]
        for place, word in enumerate(words):
            cluster = "-"
            if chance.random() < 0.12:
                cluster = f"({chance.randrange(1 + sentences // 2)})"
            cells = [key, "0", str(place), word]
            if place in predicates:
                cells += ["VB", "*", word, "01"]
            else:
                cells += ["NN", "*", "-", "-"]
            cells += ["-", "-", "*"]
            cells += [column[place] for column in columns]
            cells.append(cluster)
            yield "   ".join(cells)
        yield ""
    yield "#end document"


def role_column(predicate: int, size: int) -> list[str]:
    """
    The column of a predicate: all before it is its ARG0, and all after it its ARG1.
    """
    column = ["*"] * size
    column[predicate] = "(V*)"
    spans = {"ARG0": (0, predicate), "ARG1": (predicate + 1, size)}
    for label, (start, end) in spans.items():
        if start < end:
            column[start] = f"({label}*"
            column[end - 1] += ")"
    return column


def vector_lines(words: list[str], width: int) -> Iterator[str]:
    """A slice of a list of random numbers for each word."""
    values = np.random.default_rng(8).normal(scale=0.4, size=100_000)
    pool = [f"{value:.5f}" for value in values]
    for number, word in enumerate(words):
        begin = number * 7919 % (len(pool) - width)
        yield " ".join([word] + pool[begin : begin + width])


@TrainerCallback.register("rehearsal")
class Rehearsal(TrainerCallback):
    """
    Notes when batches begin and end; interrupts the first run in its second epoch,
    after the checkpoint.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._times = Path(serialization_dir).with_suffix(".times")

    def on_batch(self, *given: Any, is_training: bool, **_: Any) -> None:
        """Called by the trainer."""
        epoch = given[4]
        with self._times.open("a") as file:
            file.write(json.dumps([time.time(), is_training, epoch]) + "\n")
        if os.environ.get(STOP) and is_training and epoch == 1:
            os._exit(0)


def overrides(name: str) -> dict[str, Any]:
    steps, batches, _ = TASKS[name]
    callback = {"type": "rehearsal"}
    if name != "bilm":
        return {
            "trainer.num_epochs": 2,
            "trainer.callbacks": [callback],
            "data_loader.batches_per_epoch": steps,
            "validation_data_loader.batches_per_epoch": batches,
        }
    progress = {"type": "elmo_tasks_lm_progress"}
    return {
        "trainer.num_epochs": 2,
        "trainer.callbacks": [progress, callback],
        "trainer.checkpointer.save_every_num_batches": None,
        "data_loader.steps_per_epoch": steps,
        "data_loader.batch_size": LM_ROWS,
        "validation_data_loader.batch_size": LM_ROWS,
        "validation_data_loader.max_tokens": LM_TOKENS,
    }


def measured(
    folder: Path, name: str, part: str, arguments: list[str]
) -> dict[str, float]:
    """Seconds and peak memory (GB) of a command in a separate process."""
    command = [sys.executable, __file__, "child"] + arguments
    began = time.time()
    with (folder / f"{name}.{part}.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
    found = {
        "status": os.waitstatus_to_exitcode(status),
        "seconds": time.time() - began,
        "peak": usage.ru_maxrss / 1e6,
    }
    times = folder / f"{name}.times"
    if times.exists():
        lines = times.read_text().splitlines()
        found |= step_times([json.loads(line) for line in lines], began)
        times.unlink()
    return found


def step_times(
    batches: list[tuple[float, bool, int]], began: float
) -> dict[str, float]:
    """
    Seconds to the first training step, and of a step, in the first epoch; nothing if it
    has no two steps.
    """
    first_epoch = batches[0][2]
    ends = []
    for end, is_training, epoch in batches:
        if is_training and epoch == first_epoch:
            ends.append(end)
    if len(ends) < 2:
        return {}
    step = (ends[-1] - ends[0]) / (len(ends) - 1)
    return {"first": ends[0] - began - step, "step": step}


def run(root: Path, name: str) -> None:
    """Trains, recovers and evaluates one task; writes and prints what it took."""
    folder = root / "out"
    folder.mkdir(exist_ok=True)
    config = name if name == "bilm" else f"{name}_elmo"
    target = folder / name
    rows: dict[str, dict[str, float]] = {}
    shutil.rmtree(target, ignore_errors=True)
    given = ["train", str(CONFIGS / "paper" / f"{config}.jsonnet"), "-s", str(target)]
    given += ["-o", json.dumps(overrides(name))]
    os.environ[STOP] = "yes"
    rows["train"] = measured(folder, name, "train", given)
    print(name, "train", json.dumps(rows["train"]), flush=True)
    os.environ[STOP] = ""
    rows["recover"] = measured(folder, name, "recover", given + ["--recover"])
    print(name, "recover", json.dumps(rows["recover"]), flush=True)
    rows["disk"] = large_files(target)
    given = ["evaluate", str(target / "model.tar.gz"), str(root / TASKS[name][2])]
    if name == "bilm":
        shard = next(root.glob("lm/*/heldout*/news*"))
        given = ["bilm", "perplexity", str(target), str(shard)]
        given += ["--max-tokens", str(LM_TOKENS)]
    rows["evaluate"] = measured(folder, name, "evaluate", given)
    (folder / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(name, json.dumps(rows), flush=True)
    shutil.rmtree(target, ignore_errors=True)


def large_files(folder: Path) -> dict[str, float]:
    """Sizes in MB, by name, of the files of more than one MB."""
    sizes = {}
    for path in folder.rglob("*"):
        size = path.stat().st_size / 1e6
        if path.is_file() and size > 1:
            sizes[path.name] = size
    return sizes


def main() -> None:
    if sys.argv[1:2] == ["child"]:  # in this process, with the callback
        torch.set_num_threads(1)
        elmo_tasks(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("generate", "run"))
    parser.add_argument("folder", type=Path, help="of the corpora and the results")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(TASKS)} (default: all)"
    )
    args = parser.parse_args()
    root = args.folder.absolute()
    os.environ[resources.DATA_VARIABLE] = str(root)
    if args.action == "generate":
        generate(root)
        return
    for name in args.names or TASKS:
        run(root, name)


if __name__ == "__main__":
    main()
