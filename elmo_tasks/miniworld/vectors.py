"""
Word vectors for scale `mini`: word2vec on the embedded biLM's text, cut to the miniworld's words.

The miniworld's own text only chooses which words are written; it never reaches the training, so
that word vectors and biLM learn from the same text. Names that the miniworld invents stay without
a vector.

Source: Mikolov et al. 2013, "Efficient Estimation of Word Representations in Vector Space" (CBOW),
with the negative sampling of their later paper, as gensim implements them. gensim is needed here
alone: `pip install elmo-tasks[vectors]`.
"""

import gzip
import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmo_tasks.atomic import written_aside
from elmo_tasks.data.files import open_text
from elmo_tasks.errors import InputError

_DECIMALS = 3
_WORD = re.compile(r"""[^\s()\[\]{}"\\,.;:?!]+""")


@dataclass(frozen=True, slots=True)
class WordVectors:
    """
    N words, the most frequent first (equally frequent ones in code-point order), and their vectors.

    # Parameters

    words : `tuple[str, ...]`
        N different words.
    vectors : `NDArray[np.float32]`
        `[N, D]`.
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32]  # [N, D]

    def restricted(self, *, words: Iterable[str] = (), most_frequent: int = 12_000) -> "WordVectors":
        """
        # Returns

        `WordVectors`
            The `most_frequent` first words, and those of `words` that have a vector; in this order.
        """
        wanted = set(words)
        kept = [i for i, word in enumerate(self.words) if i < most_frequent or word in wanted]
        return WordVectors(tuple(self.words[i] for i in kept), self.vectors[kept])


def train_vectors(
    files: Sequence[str | Path],
    out: str | Path,
    *,
    words: Iterable[str] = (),
    most_frequent: int = 12_000,
    max_bytes: int = 3_500_000,
    **training: int,
) -> WordVectors:
    """
    Trains vectors on `files` and writes those of the most frequent words and of `words` to `out`.

    # Parameters

    files : `Sequence[str | Path]`
        Tokenised text, a sentence a line, plain or gzip: what the embedded biLM is trained on.
    out : `str` or `Path`
        The gzip file to write, in GloVe's text format.
    words : `Iterable[str]`, optional
        Words to keep besides the `most_frequent` ones: see `corpus_words`.
    max_bytes : `int`
        The greatest size allowed of `out`.
    training : `int`, optional
        `dim`, `epochs`, `window`, `negative`, `min_count`, `seed` of `word2vec`.

    # Returns

    `WordVectors`
        What was written, not yet rounded.

    # Raises

    `InputError`
        As `word2vec` and `write_vectors` do.
    """
    vectors = word2vec(files, **training).restricted(words=words, most_frequent=most_frequent)
    write_vectors(vectors, out, max_bytes=max_bytes)
    return vectors


def word2vec(
    files: Sequence[str | Path],
    *,
    dim: int = 100,
    epochs: int = 5,
    window: int = 5,
    negative: int = 10,
    min_count: int = 5,
    seed: int = 1,
) -> WordVectors:
    """
    Trains CBOW vectors with one worker, which makes them the same in every run on one machine.

    # Parameters

    files : `Sequence[str | Path]`
        Tokenised text, a sentence a line, plain or gzip; read anew in every epoch.
    dim : `int`
        The width D.
    epochs, window, negative, min_count, seed : `int`
        Passes over the text, words of context on either side, noise words per word, occurrences
        that a word needs, seed.

    # Raises

    `InputError`
        If gensim is not installed, if no word occurs `min_count` times, or if a file is no text.
    """
    model = _gensim_models().Word2Vec(
        vector_size=dim,
        window=window,
        negative=negative,
        min_count=min_count,
        seed=seed,
        sg=0,
        workers=1,
    )
    text = _Sentences(files)
    model.build_vocab(text)
    if not len(model.wv):
        named = ", ".join(map(str, files)) or "no file"
        raise InputError(f"no word occurs {min_count} times in the text ({named})")
    model.train(text, total_examples=model.corpus_count, epochs=epochs)
    return _by_frequency(model.wv)


def write_vectors(vectors: WordVectors, out: str | Path, *, max_bytes: int = 3_500_000) -> None:
    """
    Writes GloVe's text format, three decimals, as gzip without a time stamp: same vectors, same
    bytes.

    # Raises

    `InputError`
        If a number is not finite, if the file would exceed `max_bytes`, or if it cannot be
        written. Nothing is left behind.
    """
    if not np.isfinite(vectors.vectors).all():
        raise InputError("finite word vectors were wanted, some hold NaN or infinity", file=out)
    with written_aside(out) as aside:
        with (
            aside.open("wb") as raw,
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as zipped,
        ):
            zipped.writelines(_lines(vectors))
        size = aside.stat().st_size
        if size > max_bytes:
            problem = f"at most {max_bytes} bytes were wanted, {len(vectors.words)} words take {size}"
            raise InputError(problem, file=out, hint="keep fewer words")


def corpus_words(folder: str | Path) -> set[str]:
    """
    Every word of every text file below a folder, whatever its format: what stands between blanks, brackets, quotes and
    marks. What is no word of the corpus (keys, tags) does no harm where words are only looked up.

    # Raises

    `InputError`
        As `open_text` does.
    """
    files = (file for file in sorted(Path(folder).rglob("*")) if file.is_file() and file.suffix != ".gz")
    return {word for file in files for _, line in open_text(file) for word in _WORD.findall(line)}


class _Sentences:
    """The sentences of files one after another, as often as they are asked for."""

    def __init__(self, files: Sequence[str | Path]) -> None:
        self._files = files

    def __iter__(self) -> Iterator[list[str]]:
        for file in self._files:
            for _, line in open_text(file):
                yield line.split()


def _gensim_models() -> Any:
    try:
        return importlib.import_module("gensim.models")
    except ImportError as error:
        raise InputError(
            f"training word vectors needs gensim, which cannot be imported: {error}",
            hint="pip install 'elmo-tasks[vectors]'",
        ) from error


def _by_frequency(keyed: Any) -> WordVectors:
    counts = {word: int(keyed.get_vecattr(word, "count")) for word in keyed.index_to_key}
    words = tuple(sorted(counts, key=lambda word: (-counts[word], word)))
    order = [keyed.key_to_index[word] for word in words]
    return WordVectors(words, np.asarray(keyed.vectors, dtype=np.float32)[order])


def _lines(vectors: WordVectors) -> Iterator[bytes]:
    # Adding zero turns the minus zeros that rounding leaves into zeros.
    rounded = np.round(vectors.vectors.astype(np.float64), _DECIMALS) + 0.0  # [N, D]
    for word, vector in zip(vectors.words, rounded, strict=True):
        numbers = " ".join(f"{number:.{_DECIMALS}f}" for number in vector)
        yield f"{word} {numbers}\n".encode()
