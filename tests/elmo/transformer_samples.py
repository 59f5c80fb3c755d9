"""Tiny random transformers of seven architectures, with tokenizers trained here, in Hugging Face's format."""

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LIMIT = 96
"""Positions of a model; two of them are for special tokens, except in GPT-2."""

SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}
GPT2_SIZES = {"n_embd": 16, "n_layer": 3, "n_head": 2, "n_positions": LIMIT, "bos_token_id": 0, "eos_token_id": 0}

ARCHITECTURES = ["Bert", "Roberta", "DistilBert", "DebertaV2", "ModernBert", "Electra", "GPT2"]
BYTE_LEVEL = {"Roberta", "ModernBert", "GPT2"}
"""Architectures whose words begin with a space."""

WORDS = (
    "The harbour froze over . Skippers unloading barrels unhurriedly , antidisestablishmentarianism Ångström 日本語 🙂"
)


def word_pieces() -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        [WORDS], trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def byte_pairs(*, framed: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if framed else ["<|endoftext|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [WORDS],
        trainers.BpeTrainer(vocab_size=290, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    if framed:
        tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return tokenizer


def tokenizer_of(name: str) -> Any:
    if name in ("Bert", "DistilBert", "Electra", "DebertaV2"):
        cls = transformers.PreTrainedTokenizerFast if name == "DebertaV2" else transformers.BertTokenizerFast
        special = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
        names = {f"{key}_token": token for key, token in special.items()}
        return cls(tokenizer_object=word_pieces(), model_max_length=LIMIT, do_lower_case=False, **names)
    if name == "GPT2":
        return transformers.GPT2TokenizerFast(tokenizer_object=byte_pairs(framed=False))
    special = {"pad": "<pad>", "unk": "<unk>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
    names = {f"{key}_token": token for key, token in special.items()}
    cls = transformers.RobertaTokenizerFast if name == "Roberta" else transformers.PreTrainedTokenizerFast
    return cls(tokenizer_object=byte_pairs(framed=True), **names)


def config_of(name: str, vocab_size: int, **changes: Any) -> Any:
    sizes: dict[str, Any] = {**SIZES, "max_position_embeddings": LIMIT}
    if name == "GPT2":
        sizes = dict(GPT2_SIZES)
    if name == "DistilBert":
        sizes = {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": LIMIT}
    if name == "Electra":
        sizes["embedding_size"] = 8
    if name == "DebertaV2":
        sizes |= {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}
    if name == "Roberta":
        sizes |= {"pad_token_id": 1, "max_position_embeddings": LIMIT + 2}
    if name == "ModernBert":
        special = {"pad": 1, "bos": 0, "eos": 2, "cls": 0, "sep": 2}
        sizes |= {f"{key}_token_id": value for key, value in special.items()} | {"local_attention": 8}
    return getattr(transformers, f"{name}Config")(vocab_size=vocab_size, initializer_range=0.2, **{**sizes, **changes})


def write_transformer(folder: Path, name: str = "Bert", *, seed: int = 3, **options: Any) -> str:
    """Its files, with weights wide enough for each to matter."""
    torch.manual_seed(seed)
    tokenizer = tokenizer_of(name)
    model = getattr(transformers, f"{name}Model")(config_of(name, len(tokenizer)))
    model.save_pretrained(folder, **options)
    tokenizer.save_pretrained(folder)
    return str(folder)
