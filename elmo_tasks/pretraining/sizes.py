"""A sample of a corpus -> a configuration of the biLM for the hours that there are."""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import MAX_CHARACTERS, MOST_CHARACTERS
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError, require_sizes
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.text_files import decode_line, open_binary, raw_lines
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.softmax import OutputSoftmax
from elmo_tasks.pretraining.stream import LmStream
from elmo_tasks.pretraining.vocabulary import SPECIALS, WordVocabulary, count_words, truncated_words

SIZES = (
    ([[1, 16], [2, 16], [3, 32], [4, 64]], 256, 64),
    ([[1, 32], [2, 32], [3, 64], [4, 128]], 512, 128),
    ([[1, 32], [2, 32], [3, 64], [4, 128], [5, 128], [6, 128]], 768, 160),
    ([[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 256]], 1024, 256),
    ([[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512]], 2048, 512),
)
"""Filters, LSTM units and projected size, from small to large; the third is the embedded biLM's."""

VOCABULARIES = (5_000, 10_000, 20_000, 30_000, 50_000, 100_000)

_ROWS, _UNROLL, _NEGATIVES = 128, 20, 4096
_TOKENS_PER_PARAMETER = 3
"""So many tokens must be read for each parameter of a size; the embedded biLM's."""
_MOST_PASSES = 20
_UNKNOWN = 0.03
_FALLBACK = 30_000
"""Words of the vocabulary where none has less than 3 % `<UNK>`: a larger one makes training slower, not better."""
_STEPS = 3


@dataclass(frozen=True)
class CorpusSample:
    """What is known of a corpus from a sample."""

    lines: list[str]
    tokens: int  # of the whole corpus, estimated from the bytes read
    types: int
    unknown: dict[int, float]  # shares of `<UNK>` by vocabulary size, in sentences that were not counted
    truncated: float  # share of words that 50 characters truncate
    characters: int  # the least `max_characters_per_token` that truncates less than 0.1 %
    vocabulary: WordVocabulary  # the smallest with less than 3 % `<UNK>`, else of 30,000 words, without words seen once


@dataclass(frozen=True)
class Training:
    """The suggested sizes."""

    options: BiLMOptions
    precision: str
    speed: float  # tokens per second and direction, measured
    steps: int
    passes: float

    def fields(self, sample: CorpusSample, files: Sequence[Path], heldout: Sequence[Path]) -> dict[str, Any]:
        """The keys of `training_config/small/bilm.jsonnet` to change, and those of its objects."""
        epochs, warmup = min(12, self.steps), min(300, self.steps // 10 + 1)
        return {
            "train_data_path": _absolute(files),
            "validation_data_path": _absolute(heldout),
            "vocabulary": {"files": _absolute(files), "size": len(sample.vocabulary) - len(SPECIALS)},
            "model": {
                "options": self.options.to_dict(),
                "negatives": _NEGATIVES if len(sample.vocabulary) > 2 * _NEGATIVES else None,
                "dropout": 0.1 if self.passes > 3 else 0.0,
                "precision": self.precision,
            },
            "data_loader": {
                "batch_size": _ROWS,
                "unroll": _UNROLL,
                "steps_per_epoch": math.ceil(self.steps / epochs),
            },
            "validation_data_loader": {"max_tokens": 60_000},
            "trainer": {
                "num_epochs": epochs,
                "optimizer": {"type": "adam", "lr": 2e-3, "betas": [0.9, 0.99]},
                "learning_rate_scheduler": {"type": "linear_with_warmup", "warmup_steps": warmup},
            },
        }


def sample_corpus(files: Sequence[Path], *, words: int = 2_000_000) -> CorpusSample:
    """
    Read about so many words, an equal share from the start of each file.

    Raises `InputError` if a file cannot be read, or has no text.
    """
    require_sizes(words=words)
    lines: list[str] = []
    tokens = 0.0
    for file in files:
        taken, share = _first_lines(file, words // len(files))
        lines += taken
        tokens += sum(len(line.split()) for line in taken) / share
    counts = count_words(line for place, line in enumerate(lines) if place % 10)
    unseen = count_words(lines[::10])
    frequent = [word for word, count in counts.most_common(max(VOCABULARIES)) if count > 1 and word not in SPECIALS]
    if not frequent or not unseen:
        raise InputError("expected words that occur more than once, got none", file=files[0], hint="use more text")
    unknown = {}
    for size in VOCABULARIES:
        known = set(frequent[:size])
        unknown[size] = sum(count for word, count in unseen.items() if word not in known) / unseen.total()
    size = next((size for size, share in unknown.items() if share < _UNKNOWN), _FALLBACK)
    truncated, characters = truncated_words(counts)
    vocabulary = WordVocabulary([*SPECIALS, *frequent[:size]])
    return CorpusSample(lines, int(tokens), len(counts), unknown, truncated, characters, vocabulary)


def choose_training(sample: CorpusSample, *, hours: float) -> Training:
    """
    The largest of `SIZES` that reads three tokens for each of its parameters in so many hours on this machine, within
    20 passes; else the smallest. Measures the speed of each size, and of bfloat16 with the chosen one.

    Raises `InputError` if `hours` is not a positive number.
    """
    if not 0 < hours < math.inf:
        raise InputError(f"expected a positive number of hours, got {hours}")
    chosen = _training(sample, _options(SIZES[0], sample), "float32", hours)
    for sizes in SIZES[1:]:
        larger = _training(sample, _options(sizes, sample), "float32", hours)
        if larger.steps * _ROWS * _UNROLL < _TOKENS_PER_PARAMETER * larger.options.n_parameters:
            break
        chosen = larger
    lower = _training(sample, chosen.options, "bfloat16", hours)
    return max(chosen, lower, key=lambda one: one.speed)


def write_config(file: Path, fields: dict[str, Any], *, base: str) -> None:
    """A Jsonnet file that imports `base` and changes keys, an own line for each."""
    text = ""
    for name, value in fields.items():
        if isinstance(value, dict):
            keys = "".join(f"    {key}: {json.dumps(part)},\n" for key, part in value.items())
            text += f"  {name}+: {{\n{keys}  }},\n"
        else:
            text += f"  {name}: {json.dumps(value)},\n"
    with atomic_write(file) as temporary:
        temporary.write_text(f"(import {json.dumps(base)}) {{\n{text}}}\n", "utf-8")


def _absolute(files: Sequence[Path]) -> list[str]:
    return [str(file.absolute()) for file in files]


def _first_lines(file: Path, words: int) -> tuple[list[str], float]:
    """Lines with about so many words, and their share of the file's bytes."""
    taken, found = [], 0
    with open_binary(file) as opened:
        for number, raw in raw_lines(opened, file):
            taken.append(decode_line(raw, file, number))
            found += len(taken[-1].split())
            if found > words:
                break
        if not found:
            raise InputError("expected text, got none", file=file)
        return taken, min(1.0, opened.tell() / max(1, file.stat().st_size))


def _options(sizes: tuple[list[list[int]], int, int], sample: CorpusSample) -> BiLMOptions:
    """With 50 characters a token, which every loader knows, unless that truncates too many words."""
    filters, dim, projection_dim = sizes
    return BiLMOptions(
        filters=tuple((width, count) for width, count in filters),
        n_highway=1,
        dim=dim,
        projection_dim=projection_dim,
        max_characters_per_token=min(max(MAX_CHARACTERS, sample.characters), MOST_CHARACTERS),
    )


def _training(sample: CorpusSample, options: BiLMOptions, precision: str, hours: float) -> Training:
    speed = _tokens_per_second(sample, options, precision)
    steps = max(1, int(min(hours * 3600 * speed, _MOST_PASSES * sample.tokens) / (_ROWS * _UNROLL)))
    return Training(options, precision, speed, steps, steps * _ROWS * _UNROLL / sample.tokens)


def _tokens_per_second(sample: CorpusSample, options: BiLMOptions, precision: str) -> float:
    """Of the fastest of a few training steps."""
    forward, backward = (cycle(words for line in sample.lines if (words := line.split())) for _ in range(2))
    stream = LmStream(forward, backward, sample.vocabulary, batch_size=_ROWS, unroll=_UNROLL)
    softmax = OutputSoftmax(len(sample.vocabulary), options.projection_dim, negatives=_NEGATIVES)
    model = BiLanguageModel(BiLM(options), softmax, precision=precision).train()
    optimizer = torch.optim.Adam(model.parameters())
    seconds = []
    for batch in islice(stream, _STEPS):
        started = time.perf_counter()
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - started)
    return _ROWS * _UNROLL / min(seconds)
