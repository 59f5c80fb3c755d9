"""Perplexity of a language model on files: every token predicted once in each direction, with the exact softmax."""

import logging
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.language_model import BiLanguageModel, LmStates
from elmo_tasks.pretraining.perplexity import Perplexity, PerplexityReport
from elmo_tasks.pretraining.sentences import SentenceSource, require_text
from elmo_tasks.pretraining.stream import LmStream
from elmo_tasks.pretraining.vocabulary import WordVocabulary

logger = logging.getLogger(__name__)

SECONDS = 10.0
"""From one logged line to the next."""

ROWS, UNROLL = 32, 20
"""Rows carry their states through the text, as in training; each starts from zeros."""


def first_sentences(files: Iterable[str | Path], *, max_tokens: int | None = None) -> Iterator[list[str]]:
    """
    The sentences of the files in their order; with `max_tokens`, whole sentences from the beginning of each file
    until its share of so many predictions is reached.

    # Raises

    `InputError` where a file is unreadable or holds no sentence.
    """
    paths = list(files)
    share = None if max_tokens is None else max(1, max_tokens // len(paths))
    for path in paths:
        predictions = 0
        for sentence in SentenceSource([path], shuffle=False, seed=0).once(0):
            yield sentence
            predictions += len(sentence) + 1
            if share is not None and predictions >= share:
                break


@torch.no_grad()
def perplexity(
    model: BiLanguageModel,
    vocabulary: WordVocabulary,
    files: Iterable[str | Path],
    *,
    rows: int = ROWS,
    unroll: int = UNROLL,
    max_tokens: int | None = None,
) -> Iterator[tuple[str, PerplexityReport]]:
    """
    Perplexities file by file, then over all of them (`all`) where there is more than one.

    # Parameters

    model : `BiLanguageModel`
        Is set to evaluation mode.
    files : `Iterable[str | Path]`
        Text, a tokenised sentence a line; each file starts from zero states.
    rows, unroll : `int`
        How many places of the file are read at once, and tokens a step.
    max_tokens : `int`, optional
        Predictions per file and direction after which to stop, at the end of a sentence.

    # Raises

    `InputError` where a file is unreadable or holds no sentence, or a number is below 1.
    """
    if max_tokens is not None and max_tokens < 1:
        raise InputError(f"max_tokens must be at least 1, found {max_tokens}")
    model.eval()
    paths = [Path(file) for file in files]
    require_text(paths)
    over_all = Perplexity()
    for path in paths:
        counts = Perplexity()
        forward, backward = (first_sentences([path], max_tokens=max_tokens) for _ in range(2))
        states: LmStates | None = None
        logged_at = time.perf_counter()
        for batch in LmStream(forward, backward, vocabulary, batch_size=rows, unroll=unroll):
            output = model(batch.to(model.softmax.bias.device), states)
            states = output.states
            counts.add(output, batch)
            over_all.add(output, batch)
            if time.perf_counter() - logged_at > SECONDS:
                logged_at = time.perf_counter()
                so_far = counts.report()
                logger.info("%s: %s tokens, perplexity %.1f so far", path, f"{so_far.tokens // 2:,}", so_far.geometric)
        yield str(path), counts.report()
    if len(paths) > 1:
        yield "all", over_all.report()
