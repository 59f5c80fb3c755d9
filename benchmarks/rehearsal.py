"""
Scale `paper` without the corpora: random ones of the official sizes in the official formats, and for each task with
ELMo, and for the biLM, a training of a few steps, a validation, a checkpoint, `--recover` and `evaluate`.

    python benchmarks/rehearsal.py generate FOLDER
    python benchmarks/rehearsal.py run FOLDER [NAME...]

Words are drawn by Zipf's law, and mean nothing; sizes, lengths and numbers of types are the official ones, but for
GloVe (400,000 words) and the 1 Billion Word Benchmark (three shards, two held-out files). Needs 8 GB of disk and 10 GB
of memory. A row of the results is `FOLDER/out/NAME.json`.
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
WORDS, GLOVE_WORDS = 793_471, 400_000
GLOVE = {
    "glove.6B.50d": 50,
    "glove.6B.100d": 100,
    "glove.840B.300d": 300,
    "turian.50d": 50,
}
TREE = "conll-2012/v4/data/{0}/data/english/annotations/nw/random/{1:02}/random_{2:04}.v4_gold_conll"
SHARDS = {
    "training": (3, "news.en-{:05}-of-00100", 303_465),
    "heldout": (2, "news.en.heldout-{:05}-of-00050", 6_075),
}
ONTONOTES = {
    "train": (2_802, 75_187),
    "development": (343, 9_603),
    "test": (348, 9_479),
}

# Steps of each of the two epochs, batches of the validation and of `evaluate`, the file that `evaluate` reads.
TASKS: dict[str, tuple[int, int, str]] = {
    "sst": (20, 4, "sst/test.txt"),
    "ner": (6, 4, "ner/eng.testb"),
    "snli": (20, 4, "snli/snli_1.0_test.jsonl"),
    "srl": (4, 2, "conll-2012/v4/data/test/data/english"),
    "coref": (4, 2, "conll-2012/v4/data/test/data/english"),
    "squad": (2, 1, "squad/dev-v1.1.json"),
    "bilm": (6, 1, "lm"),
}
LM_TOKENS, LM_ROWS = 200, 64  # 384 rows need 14 GB
STOP = "REHEARSAL_STOP"


class Text:
    """Random words: `types` different ones, by log-uniform ranks, in sentences of about `length` words."""

    def __init__(self, words: list[str], types: int, seed: int) -> None:
        self.words, self.types = words, types
        self.generator = np.random.default_rng(seed)
        self.random = random.Random(seed)

    def take(self, count: int) -> list[str]:
        ranks = (
            np.exp(self.generator.random(count) * np.log(self.types)).astype(int) - 1
        )
        return [self.words[rank] for rank in ranks]

    def length(self, mean: float, least: int = 1, most: int = 10**6) -> int:
        return int(np.clip(self.generator.gamma(4.0, mean / 4.0), least, most))

    def sentence(self, mean: float, least: int = 3) -> list[str]:
        return [*self.take(self.length(mean, least) - 1), "."]


def word_list() -> list[str]:
    """Distinct words, the more frequent ones shorter; 4 to 10 letters."""
    letters = random.Random(1)
    found: dict[str, None] = dict.fromkeys(
        ["the", ",", ".", "of", "to", "and", "a", "in", "-LRB-", "-RRB-"]
    )
    while len(found) < WORDS - 3:
        size = 2 + min(8, len(found).bit_length() // 2) - letters.randrange(3)
        word = "".join(letters.choices("etaoinshrdlucmfwypvbgk", k=max(2, size)))
        found[word.capitalize() if letters.random() < 0.2 else word] = None
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
        write(
            root / "sst" / f"{split}.txt",
            (tree(sst, sst.sentence(19.1)) for _ in range(count)),
        )
    ner, snli = Text(words, 26_000, 3), Text(words, 42_000, 4)
    for split, count in {"train": 14_041, "testa": 3_250, "testb": 3_453}.items():
        write(root / "ner" / f"eng.{split}", ner_lines(ner, count))
    for split, count in {"train": 549_367, "dev": 9_842, "test": 9_824}.items():
        write(root / f"snli/snli_1.0_{split}.jsonl", snli_lines(snli, count))
    squad = Text(words, 110_000, 5)
    for split, (paragraphs, questions) in {
        "train": (18_896, 87_599),
        "dev": (2_067, 10_570),
    }.items():
        write(
            root / f"squad/{split}-v1.1.json",
            iter([squad_json(squad, paragraphs, questions, split == "dev")]),
        )
    ontonotes = Text(words, 60_000, 6)
    for split, (documents, sentences) in ONTONOTES.items():
        for number in range(documents):
            path = root / TREE.format(split, number // 100, number)
            path.parent.mkdir(parents=True, exist_ok=True)
            count = (
                sentences * (number + 1) // documents - sentences * number // documents
            )
            path.write_text(
                "\n".join(document(ontonotes, number, count)) + "\n", encoding="utf-8"
            )
    write(root / "lm/vocab-2016-09-10.txt", iter(["<S>", "</S>", "<UNK>", *words]))
    news = Text(words, len(words), 7)
    for part, (shards, name, sentences) in SHARDS.items():
        folder = (
            root
            / f"lm/1-billion-word-language-modeling-benchmark-r13output/{part}-monolingual.tokenized.shuffled"
        )
        for number in range(shards):
            lines = (" ".join(news.sentence(25.6)) for _ in range(sentences))
            write(folder / name.format(number + (part == "training")), lines)
    for glove, width in GLOVE.items():
        write(root / f"vectors/{glove}.txt", vector_lines(words[:GLOVE_WORDS], width))
    (root / "bilm").mkdir(exist_ok=True)
    released = root / "bilm/elmo_2x4096_512_2048cnn_2xhighway"
    BiLM(BiLMOptions()).save_files(
        Path(f"{released}_options.json"), Path(f"{released}_weights.hdf5")
    )


def tree(text: Text, words: list[str]) -> str:
    """A binary tree of random shape with random labels."""
    parts = [f"({text.random.randrange(5)} {word.replace('(', '-')})" for word in words]
    while len(parts) > 1:
        place = text.random.randrange(len(parts) - 1)
        parts[place : place + 2] = [
            f"({text.random.randrange(5)} {parts[place]} {parts[place + 1]})"
        ]
    return parts[0]


def ner_lines(text: Text, sentences: int) -> Iterator[str]:
    for number in range(sentences):
        if number % 15 == 0:
            yield "-DOCSTART- -X- -X- O\n"
        for word in text.sentence(14.5):
            kind = (
                text.random.choice(("PER", "LOC", "ORG", "MISC"))
                if text.random.random() < 0.17
                else None
            )
            yield f"{word} NN I-NP {'O' if kind is None else f'I-{kind}'}"
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
            record[place] = " ".join(words)
            record[f"{place}_parse"] = (
                "(ROOT " + " ".join(f"(NN {word})" for word in words) + ")"
            )
            record[f"{place}_binary_parse"] = (
                "( " * (len(words) - 1)
                + words[0]
                + "".join(f" {w} )" for w in words[1:])
            )
        yield json.dumps(record)


def squad_json(text: Text, paragraphs: int, questions: int, is_dev: bool) -> str:
    found = []
    for number in range(paragraphs):
        words = text.take(text.length(117, 20, 650))
        context, asked = " ".join(words), []
        for place in range(
            questions * number // paragraphs, questions * (number + 1) // paragraphs
        ):
            first = text.random.randrange(len(words) - 4)
            answer = " ".join(words[first : first + text.random.randint(1, 4)])
            start = len(" ".join(words[:first])) + (first > 0)
            question = {
                "id": f"{place:024x}",
                "question": " ".join([*text.take(text.length(10, 4)), "?"]),
            }
            asked.append(
                question
                | {
                    "answers": [{"text": answer, "answer_start": start}]
                    * (3 if is_dev else 1)
                }
            )
        found.append({"context": context, "qas": asked})
    articles = [
        {"title": str(place), "paragraphs": found[place : place + 43]}
        for place in range(0, len(found), 43)
    ]
    return json.dumps({"version": "1.1", "data": articles})


def document(text: Text, number: int, sentences: int) -> Iterator[str]:
    """CoNLL-2012 columns: three or four predicates a sentence, 55 mentions of 12 entities per 460 words."""
    key, chance = f"nw/random/{number // 100:02}/random_{number:04}", text.random
    yield f"#begin document ({key}); part 000"
    for _ in range(sentences):
        words = text.sentence(17.3)
        size = len(words)
        columns, predicates = (
            [],
            sorted(
                chance.sample(range(size), min(size - 1, chance.choice((2, 3, 4, 5))))
            ),
        )
        for predicate in predicates:
            column = ["*"] * size
            column[predicate] = "(V*)"
            if predicate:
                column[0], column[predicate - 1] = (
                    ("(ARG0*)",) * 2 if predicate == 1 else ("(ARG0*", "*)")
                )
            if predicate < size - 1:
                column[-1] = "(ARG1*)" if predicate == size - 2 else "*)"
                column[predicate + 1] = (
                    column[-1] if predicate == size - 2 else "(ARG1*"
                )
            columns.append(column)
        for place, word in enumerate(words):
            cluster = (
                f"({chance.randrange(1 + sentences // 2)})"
                if chance.random() < 0.12
                else "-"
            )
            frame = (word, "01") if place in predicates else ("-", "-")
            cells = (
                key,
                "0",
                str(place),
                word,
                "VB" if place in predicates else "NN",
                "*",
                *frame,
                "-",
                "-",
                "*",
            )
            yield "   ".join([*cells, *(column[place] for column in columns), cluster])
        yield ""
    yield "#end document"


def vector_lines(words: list[str], width: int) -> Iterator[str]:
    """A slice of a list of random numbers for each word."""
    pool = [
        f"{value:.5f}"
        for value in np.random.default_rng(8).normal(scale=0.4, size=100_000)
    ]
    for number, word in enumerate(words):
        begin = number * 7919 % (len(pool) - width)
        yield " ".join([word, *pool[begin : begin + width]])


@TrainerCallback.register("rehearsal")
class Rehearsal(TrainerCallback):
    """Notes when batches begin and end; interrupts the first run in its second epoch, after the checkpoint."""

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
    changes: dict[str, Any] = {"trainer.num_epochs": 2, "trainer.callbacks": [callback]}
    if name == "bilm":
        progress = {"type": "elmo_tasks_lm_progress", "every": 50}
        changes |= {
            "trainer.callbacks": [progress, callback],
            "data_loader.steps_per_epoch": steps,
        }
        changes |= {
            "data_loader.batch_size": LM_ROWS,
            "validation_data_loader.batch_size": LM_ROWS,
        }
        changes |= {"trainer.checkpointer.save_every_num_batches": None}
        return changes | {"validation_data_loader.max_tokens": LM_TOKENS}
    return changes | {
        "data_loader.batches_per_epoch": steps,
        "validation_data_loader.batches_per_epoch": batches,
    }


def measured(
    folder: Path, name: str, part: str, arguments: list[str]
) -> dict[str, float]:
    """Seconds and peak memory (GB) of a command in a separate process."""
    began = time.time()
    with (folder / f"{name}.{part}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, __file__, "child", *arguments], stdout=log, stderr=log
        )
        _, status, usage = os.wait4(process.pid, 0)
    found = {
        "status": os.waitstatus_to_exitcode(status),
        "seconds": time.time() - began,
        "peak": usage.ru_maxrss / 1e6,
    }
    times = folder / f"{name}.times"
    steps = (
        [json.loads(line) for line in times.read_text().splitlines()]
        if times.exists()
        else []
    )
    times.unlink(missing_ok=True)
    ends = [
        at for at, is_training, epoch in steps if is_training and epoch == steps[0][2]
    ]
    if len(ends) > 1:
        rest = (ends[-1] - ends[0]) / (len(ends) - 1)
        found |= {"first": ends[0] - began - rest, "step": rest}
    return found


def run(root: Path, name: str) -> None:
    """Trains, recovers and evaluates one task; writes and prints what it took."""
    folder = root / "out"
    folder.mkdir(exist_ok=True)
    config, target, rows = (
        CONFIGS / "paper" / f"{name}{'' if name == 'bilm' else '_elmo'}.jsonnet",
        folder / name,
        {},
    )
    shutil.rmtree(target, ignore_errors=True)
    for part in ("train", "recover"):
        given = [
            "train",
            str(config),
            "-s",
            str(target),
            "-o",
            json.dumps(overrides(name)),
        ]
        os.environ[STOP] = "yes" if part == "train" else ""
        rows[part] = measured(
            folder, name, part, given + ["--recover"] * (part == "recover")
        )
        print(name, part, json.dumps(rows[part]), flush=True)
    sizes = {
        path.name: path.stat().st_size / 1e6
        for path in target.rglob("*")
        if path.is_file()
    }
    rows["disk"] = {name: size for name, size in sizes.items() if size > 1}
    given = ["evaluate", str(target / "model.tar.gz"), str(root / TASKS[name][2])]
    if name == "bilm":
        shard = next(iter(root.glob("lm/*/heldout*/news*")))
        given = [
            "bilm",
            "perplexity",
            str(target),
            str(shard),
            "--max-tokens",
            str(LM_TOKENS),
        ]
    rows["evaluate"] = measured(folder, name, "evaluate", given)
    (folder / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(name, json.dumps(rows), flush=True)
    shutil.rmtree(target, ignore_errors=True)


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
    for name in (args.names or TASKS) if args.action == "run" else ():
        run(root, name)


if __name__ == "__main__":
    main()
