"""
Tiny random transformers of many architectures, with tokenizers trained here, in Hugging
Face's format.
"""

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import (
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

LIMIT = 96
"""Positions of a model; two of them are for special tokens, except in GPT-2 and T5."""

SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}
_AFTER_PADDING = {"pad_token_id": 1, "max_position_embeddings": LIMIT + 2}
OTHER_SIZES: dict[str, dict[str, Any]] = {
    "Roberta": _AFTER_PADDING,
    "DebertaV2": {
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
    },
    "ModernBert": {
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "cls_token_id": 0,
        "sep_token_id": 2,
    },
    "Electra": {"embedding_size": 8},
    "DistilBert": {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 24},
    "GPT2": {
        "n_embd": 16,
        "n_layer": 3,
        "n_head": 2,
        "n_positions": LIMIT,
        "bos_token_id": 0,
        "eos_token_id": 0,
    },
    "XLMRoberta": _AFTER_PADDING,
    "Camembert": _AFTER_PADDING,
    "MPNet": _AFTER_PADDING,
    "Albert": {"embedding_size": 8, "num_hidden_groups": 1},
    "ConvBert": {"embedding_size": 16, "conv_kernel_size": 3},
    "BigBird": {"block_size": 4, "num_random_blocks": 1},
    "T5": {
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 24,
        "num_layers": 3,
        "num_heads": 2,
    },
    "Bart": {
        "d_model": 16,
        "encoder_layers": 3,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24,
        "init_std": 0.2,
        "max_position_embeddings": LIMIT,
    },
}
OTHER_SIZES["LED"] = {
    **OTHER_SIZES["Bart"],
    "attention_window": 8,
    "max_encoder_position_embeddings": LIMIT,
    "max_decoder_position_embeddings": LIMIT // 2,
}
OWN_SIZES = {"GPT2", "DistilBert", "T5", "Bart", "LED"}
"""Architectures whose sizes have other names."""

ARCHITECTURES = ["Bert", *OTHER_SIZES]
BYTE_LEVEL = {"Roberta", "ModernBert", "GPT2", "Bart", "LED"}
"""Architectures whose tokenizers are made of bytes; words begin with a space."""

UNIGRAM = {
    "XLMRoberta": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
    "Camembert": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
    "Albert": ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"],
    "T5": ["<pad>", "</s>", "<unk>"],
}
"""Architectures with SentencePiece's tokenizers, and their special tokens."""

WORDS = "The harbour froze over . Skippers unloading unhurriedly antidisestablishmentarianism Ångström 日本語 🙂"
BERT = {
    "pad": "[PAD]",
    "unk": "[UNK]",
    "cls": "[CLS]",
    "sep": "[SEP]",
    "mask": "[MASK]",
}
ROBERTA = {
    "cls": "<s>",
    "pad": "<pad>",
    "sep": "</s>",
    "unk": "<unk>",
    "mask": "<mask>",
}


def word_pieces() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = list(BERT.values())
    trainer = trainers.WordPieceTrainer(
        vocab_size=120, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator([WORDS], trainer)
    frame = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=frame
    )
    return tokenizer


def byte_pairs(special: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    options: dict[str, Any] = {
        "special_tokens": special,
        "initial_alphabet": alphabet,
        "show_progress": False,
    }
    tokenizer.train_from_iterator(
        [WORDS], trainers.BpeTrainer(vocab_size=290, **options)
    )
    if len(special) > 1:
        tokenizer.post_processor = processors.RobertaProcessing(
            ("</s>", 2), ("<s>", 0), add_prefix_space=False
        )
    return tokenizer


def unigrams(special: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=80, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator([WORDS] * 3, trainer)
    before = {"<s>", "[CLS]"} & set(special)
    (after,) = {"</s>", "[SEP]"} & set(special)
    frame = [*before, "$A", after]
    used = [(token, special.index(token)) for token in frame if token != "$A"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=" ".join(frame), special_tokens=used
    )
    return tokenizer


def tokenizer_of(name: str) -> Any:
    if name in UNIGRAM:
        kind = getattr(transformers, f"{name}TokenizerFast")
        return kind(
            tokenizer_object=unigrams(UNIGRAM[name]),
            model_max_length=LIMIT,
            extra_ids=0,
        )
    if name == "GPT2":
        return transformers.GPT2TokenizerFast(
            tokenizer_object=byte_pairs(["<|endoftext|>"])
        )
    special = ROBERTA if name in BYTE_LEVEL else BERT
    names = {f"{key}_token": token for key, token in special.items()}
    pieces = byte_pairs(list(ROBERTA.values())) if name in BYTE_LEVEL else word_pieces()
    own = {
        "Roberta": transformers.RobertaTokenizerFast,
        "LED": transformers.LEDTokenizerFast,
        "Bert": transformers.BertTokenizerFast,
    }
    cls = own.get(name, transformers.PreTrainedTokenizerFast)
    return cls(
        tokenizer_object=pieces, model_max_length=LIMIT, do_lower_case=False, **names
    )


def write_transformer(folder: Path, name: str = "Bert", *, seed: int = 3) -> str:
    """Its files, with weights wide enough for each to matter."""
    torch.manual_seed(seed)
    tokenizer = tokenizer_of(name)
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "initializer_range": 0.2,
        "max_position_embeddings": LIMIT,
    }
    if name not in OWN_SIZES:
        sizes |= SIZES
    sizes |= OTHER_SIZES.get(name, {})
    if name in ("GPT2", "T5", "LED"):
        del sizes["max_position_embeddings"]
    model = getattr(transformers, f"{name}Model")(
        getattr(transformers, f"{name}Config")(**sizes)
    )
    if name == "LED":  # as published, by its model alone
        tokenizer.model_max_length = 10**30
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
