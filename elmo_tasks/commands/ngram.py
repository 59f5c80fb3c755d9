"""`allennlp bilm ngram`: perplexities of the n-gram baselines, for the language model's card."""

import argparse
from pathlib import Path
from typing import Any

from elmo_tasks.pretrain.ngram import KneserNey, NgramModel, Unigram, perplexity, spread_sentences, word_ids
from elmo_tasks.pretrain.sentences import expand_files, require_text
from elmo_tasks.pretrain.vocabulary import WordVocabulary

_DESCRIPTION = (
    "Train a unigram and an interpolated modified Kneser-Ney model on a sample that is spread evenly over the"
    " training text, and print their perplexities on held-out text. As in `allennlp bilm perplexity`, sentence ends"
    " and <UNK> are predicted like any word."
)


def add_ngram_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds `ngram` to the subparsers of `allennlp bilm`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "ngram", description=_DESCRIPTION, help="perplexities of n-gram baselines"
    )
    parser.add_argument("train", nargs="+", metavar="TRAIN", help="text files or globs, plain or gzip")
    parser.add_argument("--heldout", nargs="+", required=True, metavar="FILE", help="held-out text files or globs")
    parser.add_argument("--tokens", type=int, default=5_000_000, help="size of the sample")
    parser.add_argument("--order", type=int, default=5, help="longest n-grams")
    words = parser.add_mutually_exclusive_group()
    words.add_argument("--vocabulary", metavar="FILE", help="vocabulary.txt of a language model")
    words.add_argument("--size", type=int, default=30_000, help="without one: the most frequent words of TRAIN")
    parser.set_defaults(func=compare_ngrams)
    return parser


def compare_ngrams(args: argparse.Namespace) -> None:
    """Trains the baselines and prints a Markdown table, a row per held-out file."""
    train, held_out = expand_files(args.train), expand_files(args.heldout)
    require_text(held_out)
    vocabulary = _vocabulary(args, train)
    sample = [word_ids(words, vocabulary) for words in spread_sentences(train, tokens=args.tokens)]
    models: list[NgramModel] = [
        Unigram.train(sample, vocabulary_size=len(vocabulary)),
        KneserNey.train(sample, order=args.order, vocabulary_size=len(vocabulary)),
    ]
    print(f"trained on {sum(map(len, sample)):,} tokens in {len(sample):,} sentences; {len(vocabulary):,} classes\n")
    print(f"| held-out text | predictions | <UNK> | unigram | Kneser-Ney {args.order}-gram |")
    print("|---|---:|---:|---:|---:|")
    for file in held_out:
        print(_row(file, models, vocabulary), flush=True)


def _vocabulary(args: argparse.Namespace, train: list[Path]) -> WordVocabulary:
    if args.vocabulary:
        return WordVocabulary.from_file(args.vocabulary)
    return WordVocabulary.count(train, size=args.size)


def _row(file: Path, models: list[NgramModel], vocabulary: WordVocabulary) -> str:
    scores = [perplexity(model, [file], vocabulary) for model in models]
    cells = [f"{scores[0].predictions:,}", f"{scores[0].unknown_share:.2%}"]
    return " | ".join([f"| {file.name}", *cells, *(f"{score.perplexity:.1f}" for score in scores)]) + " |"
