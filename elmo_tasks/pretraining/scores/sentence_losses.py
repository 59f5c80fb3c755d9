"""
The loss of each word of each sentence, given the words before it and given those after
it.
"""

from collections.abc import Iterable, Iterator
from itertools import tee

import numpy as np
from pydantic import SkipValidation

from elmo_tasks.bilm.bilm import States
from elmo_tasks.bilm.packed_sequence import batches_by_length
from elmo_tasks.elmo.batching import Sentence, blocks
from elmo_tasks.option_values import RESET, BatchSizes, StartState
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.text.stream import LmBatch, LmStream
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from elmo_tasks.settings import checked

CARRIED_WINDOW = 640
"""
Tokens of a window of running text that is read in one row. Their number changes nothing
but rounding.
"""

_LONGEST_WINDOW = 256
"""Tokens of a sentence that are computed at once."""

_SIZES = BatchSizes()


@checked
def sentence_losses(
    model: BiLanguageModel,
    vocabulary: WordVocabulary,
    sentences: SkipValidation[Iterable[list[str]]],
    *,
    state: StartState = "reset",
) -> Iterator[tuple[list[str], np.ndarray]]:
    """
    Each sentence of n words, and the negative log-likelihoods of its targets by the
    exact softmax, float64 [2, n+1], in nats. Both rows are in the order of the text:

    - forward, each given the tokens before it: `w1 ... wn </S>`
    - backward, each given the tokens after it: `<S> w1 ... wn`

    Words outside the vocabulary count as `<UNK>`. An empty sentence is not read: its
    array is [2, 0], and the states stay as they are.

    With `state` `reset`, each sentence starts from zero states; sentences of similar
    length are computed together, and at most 1,024 are in memory. With `carry`, both
    directions start from the last states of the sentence before, as in training: the
    forward one has read that sentence to its end, the backward one to its beginning.
    The first sentence starts from zeros.

    The model is set to evaluation mode.
    """
    model.eval()
    if state == RESET:
        return _from_zeros(model, vocabulary, sentences)
    return _carried(model, vocabulary, sentences)


def _from_zeros(
    model: BiLanguageModel, vocabulary: WordVocabulary, sentences: Iterable[list[str]]
) -> Iterator[tuple[list[str], np.ndarray]]:
    named = (Sentence("", words, "") for words in sentences)
    for block in blocks(named, _SIZES):
        words = [sentence.tokens for sentence in block]
        losses = [np.zeros((2, 0)) for _ in block]
        indices = [index for index, one in enumerate(words) if one]
        lengths = [len(words[index]) + 1 for index in indices]
        for batch in batches_by_length(
            lengths, batch_size=_SIZES.batch_size, max_tokens=_SIZES.max_tokens
        ):
            own = [indices[index] for index in batch]
            found = _losses_of(model, vocabulary, [words[index] for index in own])
            for index, array in zip(own, found, strict=True):
                losses[index] = array
        yield from zip(words, losses, strict=True)


def _losses_of(
    model: BiLanguageModel, vocabulary: WordVocabulary, sentences: list[list[str]]
) -> Iterator[np.ndarray]:
    """The losses of sentences that are computed together, each [2, n+1]."""
    unroll = min(max([len(words) for words in sentences]) + 1, _LONGEST_WINDOW)
    stream = LmStream.of_sentences(sentences, vocabulary, unroll=unroll)
    windows = [losses for losses, _ in window_losses(model, stream)]
    losses = np.concatenate(windows, axis=1)  # [2, T, B]
    for row, words in enumerate(sentences):
        yield _in_order(losses[:, : len(words) + 1, row])


def _carried(
    model: BiLanguageModel, vocabulary: WordVocabulary, sentences: Iterable[list[str]]
) -> Iterator[tuple[list[str], np.ndarray]]:
    forward, backward, remaining = tee(sentences, 3)
    # Of the two, a `filter` leaves out the empty sentences.
    stream = LmStream(
        filter(None, forward),
        filter(None, backward),
        vocabulary,
        batch_size=1,
        unroll=CARRIED_WINDOW,
    )
    waiting = np.zeros((2, 0))  # the losses of words whose sentence was not yielded
    words = next(remaining, None)
    for losses, batch in window_losses(model, stream):
        found = losses[:, : int(batch.mask[0].sum()), 0]  # [2, T]
        waiting = np.concatenate([waiting, found], axis=1)
        while words is not None:
            length = len(words) + 1 if words else 0
            if waiting.shape[1] < length:
                break
            yield words, _in_order(waiting[:, :length])
            waiting = waiting[:, length:]
            words = next(remaining, None)
    while words is not None:  # only empty ones are left
        yield words, np.zeros((2, 0))
        words = next(remaining, None)


def window_losses(
    model: BiLanguageModel, stream: LmStream
) -> Iterator[tuple[np.ndarray, LmBatch]]:
    """
    The negative log-likelihoods of each window of a stream, float64 [2, T, B], zero
    where they are masked, and the window.
    """
    device = model.softmax.bias.device
    states: States = {}
    for batch in stream:
        found = model.token_losses(batch.to(device), states)
        states = found.states
        yield found.nll.cpu().numpy().astype(np.float64), batch


def _in_order(losses: np.ndarray) -> np.ndarray:
    """
    Losses in the order of prediction, [2, n+1], in that of the text: the backward
    direction begins with the last word.
    """
    forward, backward = losses
    return np.stack([forward, backward[::-1]])
