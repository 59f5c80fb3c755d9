"""
Seconds of a transformer as a source of layers, relative to Hugging Face's forward pass
on the same padded batch.

Usage: python benchmarks/transformer.py    (a random model of the size of BERT base, one
thread, a minute)
"""

import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import torch
from tokenizers import (
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import BertConfig, BertModel, BertTokenizerFast

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo.sources.transformer import Transformer

TEXT = (
    Path(__file__).resolve().parents[1]
    / "fixtures"
    / "miniworld"
    / "lm"
    / "heldout.miniworld.txt"
)
REPEATS = 7


def write_model(folder: str) -> BertTokenizerFast:
    """Random weights, and a tokenizer of 3,000 pieces of the synthetic corpus."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer()
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=3000, special_tokens=special, show_progress=False
    )
    pieces.train([str(TEXT)], trainer)
    frame = [("[CLS]", 2), ("[SEP]", 3)]
    pieces.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=frame
    )
    tokenizer = BertTokenizerFast(tokenizer_object=pieces)
    tokenizer.save_pretrained(folder)
    BertModel(BertConfig()).save_pretrained(folder)
    return tokenizer


def seconds(function: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def main() -> None:
    """Prints medians, ranges and ratios."""
    torch.set_num_threads(1)
    generator = random.Random(1)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        tokenizer = write_model(folder)
        source = Transformer(folder)
        words = TEXT.read_text("utf-8").split()
        sizes = {
            "16 x 25 words": [25] * 16,
            "16 x 5 to 45 words": [generator.randint(5, 45) for _ in range(16)],
        }
        for name, lengths in sizes.items():
            sentences = [generator.choices(words, k=length) for length in lengths]
            batch = tokenizer(
                sentences, is_split_into_words=True, return_tensors="pt", padding=True
            )
            ids = batch_to_ids(sentences)
            forward = partial(source.model, **batch, output_hidden_states=True)
            plain = []
            ours = []
            ratios = []
            for _ in range(REPEATS):
                plain.append(seconds(forward))
                ours.append(seconds(partial(source, ids)))
                ratios.append(ours[-1] / plain[-1])
            ratio = median(ratios)
            for label, times in (("Hugging Face", plain), ("elmo_tasks", ours)):
                spread = f"{min(times):.2f}-{max(times):.2f}"
                print(f"{name:<20}{label:<14}{median(times):.2f} s ({spread})")
            print(f"{name:<20}ratio         {ratio:.2f}")


if __name__ == "__main__":
    main()
