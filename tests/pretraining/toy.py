"""
A toy language with agreement inside the sentence, and runs on it through AllenNLP's own
command line.
"""

import json
import logging
import os
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.cli.main import run as run_command
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.model import BiLMModel
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from elmo_tasks.resources import configs_root

TOPICS = {
    "cook": ["soup", "bread", "salt", "stirs", "bakes"],
    "sailor": ["boat", "sea", "rope", "steers", "ties"],
    "smith": ["iron", "anvil", "fire", "hammers", "forges"],
    "nurse": ["bandage", "ward", "fever", "heals", "dresses"],
}

OPTIONS: dict[str, dict[str, Any]] = {
    "lstm": {
        **{"dim": 24, "projection_dim": 12, "n_layers": 2},
        **{"cell_clip": 3.0, "proj_clip": 3.0, "use_skip_connections": True},
    },
    "char_cnn": {
        **{
            "activation": "relu",
            "embedding": {"dim": 4},
            "filters": [[1, 4], [2, 8], [3, 8]],
            "n_highway": 1,
        },
        **{"n_characters": 262, "max_characters_per_token": 50},
    },
}


def sentences(count: int, *, seed: int) -> list[str]:
    """Each sentence has one topic, so that its words predict each other."""
    rng = random.Random(seed)
    lines = []
    for _ in range(count):
        who = rng.choice(sorted(TOPICS))
        a, b, c, verb, other = TOPICS[who]
        things = rng.sample([a, b, c], 2)
        lines.append(
            f"the {who} {rng.choice([verb, other])} the {things[0]} and the {things[1]} ."
        )
    return lines


WORDS = sorted({word for line in sentences(100, seed=1) for word in line.split()})


def write_configs(root: Path) -> None:
    """
    Copies `training_config` beside a folder `fixtures`, in which mini finds the data of
    `root`.
    """
    shutil.copytree(configs_root(), root / "training_config")
    (root / "fixtures").mkdir()
    (root / "fixtures" / "miniworld").symlink_to(root)
    (root / "fixtures" / "bilm").symlink_to(root / "bilm")


def write_corpus(root: Path) -> Path:
    """A data root with two training shards and a held-out file."""
    folder = root / "lm"
    folder.mkdir(parents=True)
    for name, count, seed in (
        ("train.a.txt", 200, 1),
        ("train.b.txt", 150, 2),
        ("heldout.a.txt", 60, 3),
    ):
        (folder / name).write_text("\n".join(sentences(count, seed=seed)) + "\n")
    write_configs(root)
    return root


def overrides(**changes: Any) -> dict[str, Any]:
    """Makes the mini config tiny: 10 batches per epoch, a checkpoint every 4."""
    return {
        "model.options": OPTIONS,
        "model.dropout": 0.1,
        "vocabulary.min_count": 1,
        "data_loader.batch_size": 8,
        "data_loader.unroll": 10,
        "data_loader.steps_per_epoch": 10,
        "validation_data_loader.batch_size": 8,
        "trainer.num_epochs": 3,
        "trainer.optimizer.lr": 0.02,
        "trainer.learning_rate_scheduler.warmup_steps": 5,
        "trainer.checkpointer.save_every_num_batches": 4,
    } | changes


@contextmanager
def own_terminal() -> Iterator[None]:
    """Log handlers, environment and the exception hook as in a separate process."""
    root = logging.getLogger()
    before, environment = (
        (sys.excepthook, root.handlers[:], root.level),
        dict(os.environ),
    )
    try:
        yield
    finally:
        for handler in set(root.handlers) - set(before[1]):
            handler.close()
        sys.excepthook, root.handlers[:] = before[:2]
        root.setLevel(before[2])
        os.environ.clear()
        os.environ.update(environment)


def train(corpus: Path, run: Path, *flags: str, **changes: Any) -> None:
    """`elmo-tasks train training_config/bilm.jsonnet` at scale mini on a corpus."""
    given = json.dumps(overrides(**changes))
    with own_terminal():
        run_command(
            [
                "train",
                str(corpus / "training_config" / "bilm.jsonnet"),
                "-s",
                str(run),
                "-o",
                given,
                *flags,
            ]
        )


def fake_run(
    folder: Path, words: list[str] = WORDS, *, seed: int = 0
) -> BiLanguageModel:
    """The folder of a finished run, with random weights in `best.th`."""
    torch.manual_seed(seed)
    vocabulary = LmVocabulary.of(WordVocabulary(["<S>", "</S>", "<UNK>", *words]))
    model = BiLMModel(vocabulary, OPTIONS)
    folder.mkdir(parents=True)
    vocabulary.save_to_files(str(folder / "vocabulary"))
    config = {"model": {"type": "elmo_tasks_bilm", "options": OPTIONS}}
    (folder / "config.json").write_text(json.dumps(config))
    torch.save(model.state_dict(), folder / "best.th")
    return model.language_model.eval()
