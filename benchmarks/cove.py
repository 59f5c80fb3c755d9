"""
Train a small CoVe (McCann et al. 2017): the encoder of a translation model, on the
catalogues of translated programs.

    python benchmarks/cove.py CATALOGUES VECTORS.txt out/cove --language de --hours 1

CATALOGUES is a folder with `*/de/LC_MESSAGES/*.mo` at any depth, such as unpacked
packages of a Linux distribution: English messages and their translations. The program
resumes from its last checkpoint, and writes the encoder of the lowest perplexity to
`cove.pth`, which `--model VECTORS.txt+out/cove/cove.pth` opens.
"""

import argparse
import gettext
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.basic_tokenizer import basic_tokens
from elmo_tasks.formats.vector_files import read_vectors, width_of

PADDING, UNKNOWN, BEGIN, END = range(4)
TARGET_WORDS = 12_000
HIDDEN = 256
LONGEST = 60
"""Words of a message; longer ones are left out."""
TOKENS_A_BATCH = 2_000
HELD_OUT = 1_500
"""Pairs of the development set."""
SECONDS_BETWEEN_CHECKS = 300

Pair = tuple[list[str], list[str]]


class Batch(NamedTuple):
    """Sources [B, S] and their lengths [B], and targets [B, T], padded."""

    sources: Tensor
    lengths: Tensor
    targets: Tensor


class Encoder(nn.LSTM):
    """The part that CoVe keeps: its state dictionary has the published names."""

    def __init__(self, width: int) -> None:
        super().__init__(width, width, 2, bidirectional=True, batch_first=True)


class Translator(nn.Module):
    """
    An encoder over fixed word vectors, and a decoder with bilinear attention (Luong et
    al. 2015).
    """

    def __init__(self, vectors: Tensor, target_words: int, dropout: float) -> None:
        super().__init__()
        width = vectors.shape[1]
        self.register_buffer("vectors", vectors, persistent=False)
        self.encoder = Encoder(width)
        self.target_embedding = nn.Embedding(target_words, HIDDEN, PADDING)
        self.start = nn.Linear(2 * width, HIDDEN)
        self.decoder = nn.LSTM(HIDDEN, HIDDEN, batch_first=True)
        self.attention = nn.Linear(HIDDEN, 2 * width, bias=False)
        self.combine = nn.Linear(HIDDEN + 2 * width, HIDDEN)
        self.output = nn.Linear(HIDDEN, target_words)
        self.output.weight = self.target_embedding.weight
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Batch) -> Tensor:
        """The summed negative log-likelihood of the targets."""
        encoded = self._encode(batch)  # [B, S, 2W]
        is_word = batch.sources != PADDING  # [B, S]
        mean = encoded.sum(1) / batch.lengths[:, None]
        state = self.start(mean).tanh()[None]  # [1, B, HIDDEN]
        read = self.dropout(self.target_embedding(batch.targets[:, :-1]))
        decoded, _ = self.decoder(read, (state, torch.zeros_like(state)))
        scores = self.attention(decoded) @ encoded.transpose(1, 2)  # [B, T, S]
        scores = scores.masked_fill(~is_word[:, None], -torch.inf)
        context = scores.softmax(2) @ encoded  # [B, T, 2W]
        combined = self.combine(torch.cat([decoded, context], 2)).tanh()
        expected = batch.targets[:, 1:]  # [B, T]
        is_target = expected != PADDING
        logits = self.output(self.dropout(combined[is_target]))
        return nn.functional.cross_entropy(logits, expected[is_target], reduction="sum")

    def _encode(self, batch: Batch) -> Tensor:
        words = self.dropout(self.vectors[batch.sources])  # type: ignore[index]
        packed = pack_padded_sequence(
            words, batch.lengths, batch_first=True, enforce_sorted=False
        )
        encoded, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        return self.dropout(encoded)


def read_pairs(folder: Path, language: str) -> list[Pair]:
    """
    The messages and translations of all catalogues, each pair once, as words. Raises
    `InputError` if there is none.
    """
    pairs = set()
    for file in sorted(folder.rglob(f"{language}/LC_MESSAGES/*.mo")):
        with file.open("rb") as opened:
            catalogue = gettext.GNUTranslations(opened)
        for message, translation in catalogue._catalog.items():  # type: ignore[attr-defined]
            if isinstance(message, str) and message and translation:
                # A message may have a context before it.
                text = message.split("\x04")[-1]
                pairs.add((_plain(text), _plain(translation)))
    found = []
    for source, target in sorted(pairs):
        pair = (basic_tokens(source), basic_tokens(target))
        lengths = [len(words) for words in pair]
        if source != target and min(lengths) >= 2 and max(lengths) <= LONGEST:
            found.append(pair)
    if not found:
        raise InputError(
            f"expected */{language}/LC_MESSAGES/*.mo with translations", file=folder
        )
    return found


def _plain(text: str) -> str:
    """A message without the marks of keys and of markup."""
    text = re.sub(r"<[^<>]*>", " ", text)
    return re.sub(r"[_&](?=\w)", "", text)


def source_vectors(file: Path, words: set[str]) -> tuple[dict[str, int], Tensor]:
    """
    The ids of the words that have a vector, and the vectors [V, W]; zeros for others.
    """
    ids = {}
    width = width_of(file)
    rows = [torch.zeros(width), torch.zeros(width)]
    for word, vector in read_vectors(file, width=width, words=words):
        if word not in ids:
            ids[word] = len(rows)
            rows.append(torch.from_numpy(vector))
    return ids, torch.stack(rows)


def target_vocabulary(pairs: list[Pair]) -> dict[str, int]:
    """The ids of the most frequent target words."""
    counts = Counter[str]()
    for _, target in pairs:
        counts.update(target)
    ids: dict[str, int] = {}
    for word, _ in counts.most_common(TARGET_WORDS - END - 1):
        ids[word] = len(ids) + END + 1
    return ids


class Data:
    """Pairs as ids, in batches."""

    def __init__(self, pairs: list[Pair], sources: Any, targets: Any) -> None:
        self._pairs = []
        for source, target in pairs:
            source_ids = [sources.get(word, UNKNOWN) for word in source]
            target_ids = [targets.get(word, UNKNOWN) for word in target]
            self._pairs.append((source_ids, [BEGIN, *target_ids, END]))

    def batches(self, draw: random.Random | None = None) -> Iterator[Batch]:
        """All pairs once, those of similar length together, shuffled by `draw`."""
        order = list(self._pairs)
        if draw is not None:
            draw.shuffle(order)
        order.sort(key=lambda pair: len(pair[1]))
        groups: list[list[Any]] = [[]]
        for pair in order:
            if (len(groups[-1]) + 1) * len(pair[1]) > TOKENS_A_BATCH:
                groups.append([])
            groups[-1].append(pair)
        if draw is not None:
            draw.shuffle(groups)
        for group in groups:
            sources = [torch.tensor(source) for source, _ in group]
            targets = [torch.tensor(target) for _, target in group]
            yield Batch(
                pad_sequence(sources, batch_first=True),
                torch.tensor([len(source) for source in sources]),
                pad_sequence(targets, batch_first=True),
            )


@torch.no_grad()
def perplexity(model: Translator, data: Data) -> float:
    """That of a target word, unknown ones and ends among them."""
    model.eval()
    loss = torch.zeros(())
    words = 0
    for batch in data.batches():
        loss += model(batch)
        words += int((batch.targets[:, 1:] != PADDING).sum())
    model.train()
    return float((loss / words).exp())


class Training:
    """A model, its optimizer, and what is known of them so far."""

    def __init__(self, model: Translator, folder: Path, seed: int) -> None:
        self.model = model
        self.folder = folder
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.seed = seed
        self.seconds = 0.0
        self.words = 0
        self.epoch = 0
        self.best = float("inf")
        self._load()

    def run(self, train: Data, development: Data, seconds: float) -> None:
        """Trains until so many seconds were used in all calls together."""
        started = time.monotonic() - self.seconds
        checked = self.seconds
        while self.seconds < seconds:
            draw = random.Random(f"{self.seed} {self.epoch}")
            for batch in train.batches(draw):
                self._step(batch)
                self.seconds = time.monotonic() - started
                if self.seconds - checked > SECONDS_BETWEEN_CHECKS:
                    self._check(development)
                    checked = self.seconds
                if self.seconds > seconds:
                    break
            self.epoch += 1
        self._check(development)

    def _step(self, batch: Batch) -> None:
        words = int((batch.targets[:, 1:] != PADDING).sum())
        self.optimizer.zero_grad()
        (self.model(batch) / words).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        self.words += words

    def _check(self, development: Data) -> None:
        found = perplexity(self.model, development)
        if found < self.best:
            self.best = found
            encoder = self.model.encoder.state_dict()
            with atomic_write(self.folder / "cove.pth") as aside:
                torch.save(encoder, aside)
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "known": [self.seconds, self.words, self.epoch, self.best],
        }
        with atomic_write(self.folder / "training.pth") as aside:
            torch.save(state, aside)
        line = {
            "minutes": round(self.seconds / 60, 1),
            "epoch": self.epoch,
            "target words": self.words,
            "perplexity": round(found, 2),
        }
        print(json.dumps(line), flush=True)

    def _load(self) -> None:
        file = self.folder / "training.pth"
        if file.is_file():
            state = torch.load(file, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.seconds, self.words, self.epoch, self.best = state["known"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("catalogues", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--language", default="de")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    pairs = read_pairs(given.catalogues, given.language)
    random.Random(given.seed).shuffle(pairs)
    source_words = set()
    for source, _ in pairs:
        source_words.update(source)
    sources, vectors = source_vectors(given.vectors, source_words)
    train, development = pairs[HELD_OUT:], pairs[:HELD_OUT]
    targets = target_vocabulary(train)
    count = sum([len(source) for source, _ in train])
    print(
        f"{len(train):,} pairs, {count:,} source words; {len(sources):,} of"
        f" {len(source_words):,} words have vectors",
        flush=True,
    )
    given.out.mkdir(parents=True, exist_ok=True)
    model = Translator(vectors, len(targets) + END + 1, given.dropout)
    training = Training(model, given.out, given.seed)
    training.run(
        Data(train, sources, targets),
        Data(development, sources, targets),
        3600 * given.hours,
    )


if __name__ == "__main__":
    main()
