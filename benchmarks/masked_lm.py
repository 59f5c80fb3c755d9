"""
Train a BERT-like masked language model of the embedded biLM's size on plain text, with
Hugging Face's Trainer.

Usage: pip install accelerate; python benchmarks/masked_lm.py OUT --train 'DATA/lm/train.*.txt.gz' \
    --heldout 'DATA/lm/heldout.*.txt.gz'

OUT is then a folder for `model.elmo.model`. Called again, it resumes from the last
checkpoint below OUT/checkpoints. The text has a tokenised sentence per line;
consecutive sentences share a sequence. 5.3 million parameters.
"""

import argparse
import glob
import gzip
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import (
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertTokenizerFast,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)
from transformers.trainer_utils import get_last_checkpoint

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LENGTH = 128
"""Pieces of a sequence, with [CLS] and [SEP], and positions of the model."""


def lines(pattern: str) -> Iterator[str]:
    for file in sorted(glob.glob(pattern)):
        opened = gzip.open if file.endswith(".gz") else open
        with opened(file, "rt", encoding="utf-8") as text:
            yield from text


def train_tokenizer(pattern: str, vocabulary: int) -> BertTokenizerFast:
    pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=False)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=SPECIAL, min_frequency=5
    )
    pieces.train_from_iterator(lines(pattern), trainer)
    pieces.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return BertTokenizerFast(
        tokenizer_object=pieces, do_lower_case=False, model_max_length=LENGTH
    )


class Sequences(torch.utils.data.Dataset):
    """The text as sequences of the same length."""

    def __init__(self, tokenizer: BertTokenizerFast, pattern: str) -> None:
        pieces = []
        batch: list[str] = []
        for line in lines(pattern):
            batch.append(line)
            if len(batch) == 10_000:
                pieces.append(self._encode(tokenizer, batch))
                batch = []
        pieces.append(self._encode(tokenizer, batch))
        flat = np.concatenate(pieces)
        inner = flat[: len(flat) // (LENGTH - 2) * (LENGTH - 2)].reshape(-1, LENGTH - 2)
        self.rows = np.pad(
            inner, ((0, 0), (1, 1)), constant_values=((0, 0), (2, 3))
        )  # [N, LENGTH]

    @staticmethod
    def _encode(tokenizer: BertTokenizerFast, batch: list[str]) -> np.ndarray:
        encoded = tokenizer.backend_tokenizer.encode_batch(
            batch, add_special_tokens=False
        )
        pieces: list[int] = []
        for sentence in encoded:
            pieces += sentence.ids
            pieces.append(3)  # [SEP]
        return np.array(pieces, np.int32)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"input_ids": torch.from_numpy(self.rows[index].astype(np.int64))}


class MaskedPiecesTrainer(Trainer):
    """
    Computes the softmax of masked pieces only: the same loss in three quarters of the
    time on a CPU.
    """

    def compute_loss(
        self,
        model: BertForMaskedLM,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        **_: Any,
    ) -> Any:
        masked = inputs["labels"] != -100
        logits = model.cls(model.bert(inputs["input_ids"])[0][masked]).float()
        loss = torch.nn.functional.cross_entropy(logits, inputs["labels"][masked])
        if return_outputs:
            return loss, {"logits": logits}
        return loss


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--train", required=True, help="pattern of text files")
    parser.add_argument("--heldout", required=True, help="pattern of text files")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=-1, help="instead of epochs")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument(
        "--bfloat16",
        action="store_true",
        help="products in bfloat16, as always on a GPU",
    )
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    has_tokenizer = (args.out / "tokenizer.json").exists()
    if not has_tokenizer:
        train_tokenizer(args.train, args.vocabulary).save_pretrained(args.out)
    tokenizer = BertTokenizerFast.from_pretrained(args.out)
    sizes = {
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 1024,
    }
    # No dropout: a model that reads each sentence once does not overfit.
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    torch.manual_seed(args.seed)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=LENGTH,
            **sizes,
            **dropout,
        )
    )
    has_gpu = torch.cuda.is_available()
    arguments = TrainingArguments(
        str(args.out / "checkpoints"), max_steps=args.steps, num_train_epochs=args.epochs, seed=args.seed,
        per_device_train_batch_size=args.batch_size, learning_rate=5e-4, weight_decay=0.01, warmup_ratio=0.05,
        bf16=args.bfloat16 or has_gpu, use_cpu=not has_gpu, prediction_loss_only=True, logging_steps=100,
        save_steps=500, save_total_limit=1, report_to=[],
    )  # fmt: skip
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
    heldout = Sequences(tokenizer, args.heldout)
    trainer = MaskedPiecesTrainer(
        model, arguments, collator, Sequences(tokenizer, args.train), heldout
    )
    checkpoints = args.out / "checkpoints"
    last = get_last_checkpoint(checkpoints) if checkpoints.is_dir() else None
    trainer.train(resume_from_checkpoint=last)
    loss = trainer.evaluate()["eval_loss"]
    print(
        f"{model.num_parameters():,} parameters; perplexity of masked pieces, heldout: {math.exp(loss):.1f}"
    )
    model.save_pretrained(args.out)


if __name__ == "__main__":
    main()
