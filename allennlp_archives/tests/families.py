"""
Tiny archives of the nine families of allennlp-models, trained with its own classes on a
few sentences.

The transformers are random and made here, in folders whose names are those that a
published archive would have.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from allennlp.commands.train import train_model
from allennlp.common import Params

from tests.elmo.sources.transformer_samples import (
    LIMIT,
    tokenizer_of,
    write_transformer,
)
from tests.tiny import ELMO_DIM, SAMPLES, bilm_files

ROBERTA = "roberta-tiny"
BERT = "bert-tiny-cased"
GPT2 = "gpt2-tiny"
BART = "bart-tiny"
T5 = "t5-tiny"
PIECES = {"tokens": {"type": "pretrained_transformer", "model_name": ROBERTA}}
WORDS = {"tokens": {"type": "single_id"}}
_T5_WORDS = ["<pad>", "</s>", "<unk>", "a", "b", "c"]


@dataclass(frozen=True)
class Family:
    """
    An archive.

    # Parameters

    - `config`: of its model, dataset reader and, perhaps, `vocabulary`.
    - `corpus`: writes the training data to a new path.
    - `lines`: inputs of its predictor.
    - `needs_tags`: whether the predictor needs parts of speech.
    """

    config: dict[str, Any]
    corpus: Callable[[Path], Path]
    lines: list[dict[str, Any]]
    needs_tags: bool = False


def _sample(task: str) -> Callable[[Path], Path]:
    def corpus(folder: Path) -> Path:
        return SAMPLES[task]

    return corpus


def _text(name: str, text: str) -> Callable[[Path], Path]:
    def corpus(folder: Path) -> Path:
        file = folder / name
        file.write_text(text)
        return file

    return corpus


def _ontonotes(folder: Path) -> Path:
    """A folder, which the reader of SRL walks."""
    target = folder / "ontonotes"
    target.mkdir(exist_ok=True)
    shutil.copy(SAMPLES["srl"], target)
    return target


def lstm(size: int, hidden: int = 4) -> dict[str, Any]:
    return {
        "type": "lstm",
        "input_size": size,
        "hidden_size": hidden,
        "bidirectional": True,
    }


def dense(size: int, *hidden: int, last: str = "relu") -> dict[str, Any]:
    activations = ["relu"] * (len(hidden) - 1) + [last]
    return {
        "input_dim": size,
        "num_layers": len(hidden),
        "hidden_dims": list(hidden),
        "activations": activations,
        "dropout": 0.2,
    }


def embedded(**others: Any) -> dict[str, Any]:
    """A text field embedder."""
    return {"token_embedders": others}


def matching(size: int, is_forward: bool | None = None) -> dict[str, Any]:
    """A matcher of BiMPM."""
    return {
        "hidden_dim": size,
        "num_perspectives": 2,
        "is_forward": is_forward,
        "with_full_match": is_forward is not None,
    }


ELMO = {
    "type": "elmo_token_embedder",
    "options_file": "OPTIONS",
    "weight_file": "WEIGHTS",
    "do_layer_norm": False,
    "dropout": 0.5,
}
"""Its files are replaced by those of a tiny biLM."""

WORD = {"type": "embedding", "embedding_dim": 5}
CHARACTERS = {"elmo": {"type": "elmo_characters"}}

_BLOCKS = {
    "type": "qanet_encoder",
    "input_dim": 4,
    "hidden_dim": 4,
    "attention_projection_dim": 4,
    "feedforward_hidden_dim": 4,
    "num_blocks": 1,
    "num_convs_per_block": 1,
    "conv_kernel_size": 3,
    "num_attention_heads": 2,
}
QANET = {
    "text_field_embedder": embedded(tokens=WORD),
    "num_highway_layers": 1,
    "phrase_layer": _BLOCKS,
    "matrix_attention_layer": {
        "type": "linear",
        "tensor_1_dim": 4,
        "tensor_2_dim": 4,
        "combination": "x,y,x*y",
    },
    "modeling_layer": _BLOCKS,
}
"""What both models of QANet's kind share."""

SENTENCE = [{"sentence": "Mira sold the old ferry ."}, {"sentence": "The wreck lay ."}]
PAIR = [{"premise": "The ferry sank .", "hypothesis": "A ship sank ."}]
QUESTION = {"question": "Who sold it?", "passage": "Ada Wells sold it to the railway."}

_TREES = """\
(S (NP (DT The) (NN ferry)) (VP (VBD sank)) (. .))
(S (NP (NNP Mira)) (VP (VBD sold) (NP (DT the) (NN mill))) (. .))
"""
_DEPENDENCIES = """\
1	The	the	DET	DT	_	2	det	_	_
2	ferry	ferry	NOUN	NN	_	3	nsubj	_	_
3	sank	sink	VERB	VBD	_	0	root	_	_

1	Mira	Mira	PROPN	NNP	_	2	nsubj	_	_
2	left	leave	VERB	VBD	_	0	root	_	_

"""
_CHOICES = {
    "id": "a",
    "answerKey": "B",
    "question": {
        "stem": "What sails?",
        "choices": [
            {"label": "A", "text": "a mill"},
            {"label": "B", "text": "a ferry"},
        ],
    },
}

_FILMS = """\
{"text": "A fine film .", "label": "good"}
{"text": "A dull grey film .", "label": "bad"}
"""
_COPIES = "a b c\tc b a\nb a\ta b\nc a b\tb a c\n"
_QUESTIONS = """\
1\thow old is it ?\twhat is its age ?\t1
0\twho sold it ?\twhere is the mill ?\t2
"""
_GRAPHS = """\
#1
1\tThe\tthe\tDT\t2\tdet\t-\t-\t_\t_\t_
2\tferry\tferry\tNN\t3\tnsubj\t-\t+\t_\t_\tARG1
3\tsank\tsink\tVBD\t0\troot\t+\t+\t_\t_\t_

#2
1\tShe\tshe\tPRP\t2\tnsubj\t-\t-\t_\tARG1
2\tleft\tleave\tVBD\t0\troot\t+\t+\t_\t_
3\thome\thome\tNN\t2\tobj\t-\t-\t_\tARG2

"""
_NO_DATE = {"day": "", "month": "", "year": ""}
_NUMBERS = {
    "passage": {
        "passage": "Ada Wells sold 12 of her 30 boats to the railway.",
        "qa_pairs": [
            {
                "query_id": "1",
                "question": "Who sold boats?",
                "answer": {"number": "", "date": _NO_DATE, "spans": ["Ada Wells"]},
            },
            {
                "query_id": "2",
                "question": "How many boats did she keep?",
                "answer": {"number": "18", "date": _NO_DATE, "spans": []},
            },
        ],
    }
}
_ANSWER = {"text": "Ada Wells", "answer_start": 0}
_DIALOG = {
    "title": "boats",
    "paragraphs": [
        {
            "context": "Ada Wells sold her mill. She left. CANNOTANSWER",
            "qas": [
                {
                    "id": "1",
                    "question": "Who sold it?",
                    "answers": [_ANSWER],
                    "orig_answer": _ANSWER,
                    "yesno": "x",
                    "followup": "y",
                },
                {
                    "id": "2",
                    "question": "Did she leave?",
                    "answers": [{"text": "She left", "answer_start": 25}],
                    "orig_answer": {"text": "She left", "answer_start": 25},
                    "yesno": "y",
                    "followup": "n",
                },
                {
                    "id": "3",
                    "question": "Was she glad?",
                    "answers": [{"text": "CANNOTANSWER", "answer_start": 35}],
                    "orig_answer": {"text": "CANNOTANSWER", "answer_start": 35},
                    "yesno": "n",
                    "followup": "m",
                },
            ],
        }
    ],
}

FAMILIES: dict[str, Family] = {
    "tagging": Family(
        {
            "dataset_reader": {
                "type": "conll2003",
                "coding_scheme": "BIOUL",
                "token_indexers": {**WORDS, **CHARACTERS},
            },
            "model": {
                "type": "crf_tagger",
                "label_encoding": "BIOUL",
                "constrain_crf_decoding": True,
                "dropout": 0.5,
                "text_field_embedder": embedded(tokens=WORD, elmo=ELMO),
                "encoder": lstm(5 + ELMO_DIM),
            },
        },
        _sample("ner"),
        SENTENCE,
    ),
    "classification": Family(
        {
            "dataset_reader": {"type": "sst_tokens", "granularity": "5-class"},
            "model": {
                "type": "bcn",
                "text_field_embedder": embedded(tokens=WORD),
                "embedding_dropout": 0.2,
                "pre_encode_feedforward": dense(5, 4),
                "encoder": lstm(4, 3),
                "integrator": lstm(18, 3),
                "integrator_dropout": 0.1,
                "output_layer": dense(24, 6, 4, last="linear"),
                "initializer": {
                    "regexes": [[".*linear.*weight", {"type": "xavier_normal"}]]
                },
            },
        },
        _sample("sst"),
        SENTENCE,
    ),
    "classification, transformer": Family(
        {
            "dataset_reader": {
                "type": "sst_tokens",
                "tokenizer": {"type": "pretrained_transformer", "model_name": ROBERTA},
                "token_indexers": PIECES,
            },
            "model": {
                "type": "basic_classifier",
                "text_field_embedder": embedded(**PIECES),
                "seq2vec_encoder": {
                    "type": "cls_pooler",
                    "embedding_dim": 16,
                },
                "dropout": 0.1,
                "namespace": "tags",
            },
        },
        _sample("sst"),
        SENTENCE,
    ),
    "coref": Family(
        {
            "dataset_reader": {
                "type": "coref",
                "max_span_width": 4,
                "max_sentences": 20,
                "token_indexers": WORDS,
            },
            "model": {
                "type": "coref",
                "text_field_embedder": embedded(tokens=WORD),
                "context_layer": lstm(5),
                "mention_feedforward": dense(8 * 2 + 5 + 3, 6, 6),
                "antecedent_feedforward": dense(3 * (8 * 2 + 5 + 3) + 3, 6, 6),
                "feature_size": 3,
                "max_span_width": 4,
                "spans_per_word": 0.4,
                "max_antecedents": 10,
            },
        },
        _sample("srl"),
        [{"document": "Mira sold her mill . She left ."}],
    ),
    "generation": Family(
        {
            "dataset_reader": {
                "type": "seq2seq",
                "target_token_indexers": {
                    "tokens": {"type": "single_id", "namespace": "target_tokens"}
                },
                "source_tokenizer": "whitespace",
            },
            "model": {
                "type": "simple_seq2seq",
                "source_embedder": embedded(tokens=WORD),
                "encoder": {"type": "lstm", "input_size": 5, "hidden_size": 4},
                "attention": "dot_product",
                "target_namespace": "target_tokens",
                "target_embedding_dim": 4,
                "beam_search": {"max_steps": 6, "beam_size": 3},
            },
        },
        _text("copies.tsv", "a b c\tc b a\nb a\ta b\nc a b\tb a c\n"),
        [{"source": "a b"}, {"source": "c c a"}],
    ),
    "generation, transformer": Family(
        {
            "dataset_reader": {
                "type": "seq2seq",
                "source_tokenizer": {
                    "type": "pretrained_transformer",
                    "model_name": BART,
                },
                "source_token_indexers": {
                    "tokens": {
                        "type": "pretrained_transformer",
                        "model_name": BART,
                        "namespace": "tokens",
                    }
                },
                "source_add_start_token": False,
                "source_add_end_token": False,
                "target_add_start_token": False,
                "target_add_end_token": False,
            },
            "model": {
                "type": "bart",
                "model_name": BART,
                "beam_search": {"max_steps": 6, "beam_size": 2},
            },
        },
        _text("copies.tsv", "The harbour froze\tharbour\nIt sank\tsank\n"),
        [{"source": "The harbour froze over ."}],
    ),
    "lm": Family(
        {
            "dataset_reader": {
                "type": "masked_language_modeling",
                "tokenizer": {"type": "pretrained_transformer", "model_name": BERT},
                "token_indexers": {
                    "bert": {"type": "pretrained_transformer", "model_name": BERT}
                },
            },
            "model": {
                "type": "masked_language_model",
                "text_field_embedder": embedded(
                    bert={"type": "pretrained_transformer", "model_name": BERT}
                ),
                "language_model_head": {"type": "bert", "model_name": BERT},
                "target_namespace": "tags",
            },
        },
        _text("lines.txt", "The harbour froze over\nSkippers unloading\n"),
        [{"sentence": "The [MASK] froze over ."}],
    ),
    "lm, next token": Family(
        {
            "dataset_reader": {
                "type": "next_token_lm",
                "tokenizer": {"type": "pretrained_transformer", "model_name": GPT2},
                "token_indexers": {
                    "tokens": {"type": "pretrained_transformer", "model_name": GPT2}
                },
            },
            "model": {
                "type": "next_token_lm",
                "text_field_embedder": embedded(
                    tokens={"type": "pretrained_transformer", "model_name": GPT2}
                ),
                "language_model_head": {"type": "gpt2", "model_name": GPT2},
                "target_namespace": "tags",
                "beam_search_generator": {
                    "type": "transformer",
                    "beam_search": {"end_index": 0, "max_steps": 3, "beam_size": 2},
                },
            },
        },
        _text("lines.txt", "The harbour froze over\nSkippers unloading\n"),
        [{"sentence": "The harbour"}],
    ),
    "mc": Family(
        {
            "dataset_reader": {
                "type": "commonsenseqa",
                "transformer_model_name": ROBERTA,
                "length_limit": LIMIT - 2,
            },
            "model": {"type": "transformer_mc", "transformer_model": ROBERTA},
        },
        _text("choices.jsonl", 3 * (json.dumps(_CHOICES) + "\n")),
        [{"prefix": "What grinds?", "alternatives": ["a mill", "a ferry"]}],
    ),
    "pair_classification": Family(
        {
            "dataset_reader": {
                "type": "snli",
                "tokenizer": "whitespace",
                "token_indexers": CHARACTERS,
            },
            "model": {
                "type": "decomposable_attention",
                "text_field_embedder": embedded(elmo=ELMO),
                "attend_feedforward": dense(ELMO_DIM, 6, 6),
                "matrix_attention": {"type": "dot_product"},
                "compare_feedforward": dense(2 * ELMO_DIM, 6, 6),
                "aggregate_feedforward": dense(12, 6, 3, last="linear"),
                "initializer": {
                    "regexes": [[".*linear_layers.*weight", "xavier_normal"]]
                },
            },
        },
        _sample("snli"),
        PAIR,
    ),
    "rc": Family(
        {
            "dataset_reader": {
                "type": "squad",
                "token_indexers": {**WORDS, **CHARACTERS},
            },
            "model": {
                "type": "bidaf",
                "text_field_embedder": embedded(tokens=WORD, elmo=ELMO),
                "num_highway_layers": 2,
                "phrase_layer": lstm(5 + ELMO_DIM),
                "matrix_attention": {
                    "type": "linear",
                    "combination": "x,y,x*y",
                    "tensor_1_dim": 8,
                    "tensor_2_dim": 8,
                },
                "modeling_layer": lstm(32),
                "span_end_encoder": lstm(56),
                "dropout": 0.2,
            },
        },
        _sample("squad"),
        [QUESTION],
    ),
    "rc, transformer": Family(
        {
            "dataset_reader": {
                "type": "transformer_squad",
                "transformer_model_name": ROBERTA,
                "length_limit": LIMIT - 2,
                "max_query_length": 30,
                "stride": 30,
            },
            "model": {"type": "transformer_qa", "transformer_model_name": ROBERTA},
        },
        _sample("squad"),
        [{"question": QUESTION["question"], "context": QUESTION["passage"]}],
    ),
    "structured_prediction": Family(
        {
            "dataset_reader": {"type": "srl"},
            "model": {
                "type": "srl",
                "text_field_embedder": embedded(tokens=WORD),
                "binary_feature_dim": 2,
                "encoder": {
                    "type": "alternating_lstm",
                    "input_size": 7,
                    "hidden_size": 4,
                    "num_layers": 2,
                    "use_highway": True,
                },
            },
        },
        _ontonotes,
        SENTENCE,
        needs_tags=True,
    ),
    "structured_prediction, transformer": Family(
        {
            "dataset_reader": {"type": "srl", "bert_model_name": BERT},
            "model": {"type": "srl_bert", "bert_model": BERT, "embedding_dropout": 0.1},
        },
        _ontonotes,
        SENTENCE,
        needs_tags=True,
    ),
    "structured_prediction, dependencies": Family(
        {
            "dataset_reader": {"type": "universal_dependencies"},
            "model": {
                "type": "biaffine_parser",
                "text_field_embedder": embedded(tokens=WORD),
                "pos_tag_embedding": {"embedding_dim": 3, "vocab_namespace": "pos"},
                "encoder": lstm(8),
                "tag_representation_dim": 4,
                "arc_representation_dim": 4,
            },
        },
        _text("trees.conllu", _DEPENDENCIES),
        SENTENCE,
        needs_tags=True,
    ),
    "structured_prediction, constituents": Family(
        {
            "dataset_reader": {"type": "ptb_trees", "use_pos_tags": True},
            "model": {
                "type": "constituency_parser",
                "text_field_embedder": embedded(tokens=WORD),
                "pos_tag_embedding": {"embedding_dim": 3, "vocab_namespace": "pos"},
                "encoder": lstm(8),
                "span_extractor": {"type": "bidirectional_endpoint", "input_dim": 8},
            },
        },
        _text("trees.mrg", _TREES),
        SENTENCE,
        needs_tags=True,
    ),
    "classification, words": Family(
        {
            "dataset_reader": {"type": "text_classification_json"},
            "model": {
                "type": "basic_classifier",
                "text_field_embedder": embedded(tokens=WORD),
                "seq2vec_encoder": {
                    "type": "cnn",
                    "embedding_dim": 5,
                    "num_filters": 3,
                    "ngram_filter_sizes": [2],
                },
            },
        },
        _text("films.jsonl", _FILMS),
        SENTENCE,
    ),
    "generation, copies": Family(
        {
            "dataset_reader": {
                "type": "copynet_seq2seq",
                "target_namespace": "target_tokens",
                "source_tokenizer": "whitespace",
                "target_tokenizer": "whitespace",
            },
            "model": {
                "type": "copynet_seq2seq",
                "source_embedder": embedded(tokens=WORD),
                "encoder": lstm(5),
                "attention": {"type": "bilinear", "vector_dim": 8, "matrix_dim": 8},
                "target_embedding_dim": 4,
                "beam_search": {"max_steps": 6, "beam_size": 3},
            },
        },
        _text("copies.tsv", _COPIES),
        [{"source": "a b"}, {"source": "c unseen a"}],
    ),
    "generation, composed": Family(
        {
            "dataset_reader": {"type": "seq2seq", "source_tokenizer": "whitespace"},
            "model": {
                "type": "composed_seq2seq",
                "source_text_embedder": embedded(tokens=WORD),
                "encoder": lstm(5, 4),
                "decoder": {
                    "decoder_net": {
                        "type": "lstm_cell",
                        "decoding_dim": 8,
                        "target_embedding_dim": 5,
                        "attention": {"type": "dot_product"},
                    },
                    "target_embedder": {"embedding_dim": 5},
                    "beam_search": {"max_steps": 6, "beam_size": 3},
                },
            },
        },
        _text("copies.tsv", _COPIES),
        [{"source": "a b"}, {"source": "c c a"}],
    ),
    "generation, T5": Family(
        {
            "dataset_reader": {
                "type": "seq2seq",
                "source_tokenizer": {
                    "type": "pretrained_transformer",
                    "model_name": T5,
                },
                "source_token_indexers": {
                    "tokens": {"type": "pretrained_transformer", "model_name": T5}
                },
                "source_add_start_token": False,
                "source_add_end_token": False,
                "target_add_start_token": False,
                "target_add_end_token": False,
            },
            "model": {
                "type": "t5",
                "model_name": T5,
                "beam_search": {"max_steps": 6, "beam_size": 2},
            },
        },
        _text("copies.tsv", _COPIES),
        [{"source": "a b"}, {"source": "c c a"}],
    ),
    "pair_classification, ESIM": Family(
        {
            "dataset_reader": {"type": "snli", "tokenizer": "whitespace"},
            "model": {
                "type": "esim",
                "text_field_embedder": embedded(tokens=WORD),
                "encoder": lstm(5),
                "matrix_attention": {"type": "dot_product"},
                "projection_feedforward": dense(32, 6),
                "inference_encoder": lstm(6),
                "output_feedforward": dense(32, 6),
                "output_logit": dense(6, 3, last="linear"),
            },
        },
        _sample("snli"),
        PAIR,
    ),
    "pair_classification, BiMPM": Family(
        {
            "dataset_reader": {"type": "quora_paraphrase", "tokenizer": "whitespace"},
            "model": {
                "type": "bimpm",
                "text_field_embedder": embedded(tokens=WORD),
                "matcher_word": matching(5),
                "encoder1": lstm(5),
                "matcher_forward1": matching(4, is_forward=True),
                "matcher_backward1": matching(4, is_forward=False),
                "encoder2": lstm(8),
                "matcher_forward2": matching(4, is_forward=True),
                "matcher_backward2": matching(4, is_forward=False),
                "aggregator": lstm(12 + 4 * 15),
                "classifier_feedforward": dense(16, 6, 2, last="linear"),
            },
        },
        _text("questions.tsv", _QUESTIONS),
        PAIR,
    ),
    "rc, QANet": Family(
        {
            "dataset_reader": {"type": "squad"},
            "model": {"type": "qanet", **QANET},
        },
        _sample("squad"),
        [QUESTION],
    ),
    "rc, numbers": Family(
        {
            "dataset_reader": {"type": "drop"},
            "model": {
                "type": "naqanet",
                "answering_abilities": [
                    "passage_span_extraction",
                    "question_span_extraction",
                    "addition_subtraction",
                    "counting",
                ],
                **QANET,
            },
        },
        _text("numbers.json", json.dumps(_NUMBERS)),
        [QUESTION],
    ),
    "rc, dialog": Family(
        {
            "dataset_reader": {
                "type": "quac",
                "num_context_answers": 1,
                "token_indexers": {
                    **WORDS,
                    "token_characters": {"type": "characters", "min_padding_length": 3},
                },
            },
            "model": {
                "type": "dialog_qa",
                "num_context_answers": 1,
                "marker_embedding_dim": 2,
                "text_field_embedder": embedded(
                    tokens=WORD,
                    token_characters={
                        "type": "character_encoding",
                        "embedding": {
                            "embedding_dim": 3,
                            "vocab_namespace": "token_characters",
                        },
                        "encoder": {"type": "bag_of_embeddings", "embedding_dim": 3},
                    },
                ),
                "phrase_layer": lstm(10),
                "residual_encoder": lstm(24),
                "span_start_encoder": lstm(8),
                "span_end_encoder": lstm(16),
                "initializer": {"regexes": []},
            },
        },
        _text("dialog.json", json.dumps({"data": [_DIALOG]})),
        [_DIALOG],
    ),
    "tagging, simple": Family(
        {
            "dataset_reader": {"type": "conll2003"},
            "model": {
                "type": "simple_tagger",
                "text_field_embedder": embedded(tokens=WORD),
                "encoder": lstm(5),
            },
        },
        _sample("ner"),
        SENTENCE,
    ),
}
"""By family, and where it has several models, the kind of model."""

WITHOUT_PREDICTOR: dict[str, Family] = {
    "structured_prediction, graph": Family(
        {
            "dataset_reader": {"type": "semantic_dependencies"},
            "model": {
                "type": "graph_parser",
                "text_field_embedder": embedded(tokens=WORD),
                "encoder": lstm(5),
                "tag_representation_dim": 4,
                "arc_representation_dim": 4,
            },
        },
        _text("graphs.sdp", _GRAPHS),
        [],
    ),
    "lm, words": Family(
        {
            "dataset_reader": {
                "type": "simple_language_modeling",
                "tokenizer": "whitespace",
            },
            "model": {
                "type": "bidirectional-language-model",
                "text_field_embedder": embedded(tokens=WORD),
                "contextualizer": lstm(5),
            },
        },
        _text("lines.txt", "The harbour froze over\nSkippers unloading\n"),
        [],
    ),
}
"""Models of which AllenNLP has no predictor."""

OF_TRANSFORMERS = {
    "classification, transformer": ROBERTA,
    "generation, transformer": BART,
    "generation, T5": T5,
    "lm": BERT,
    "lm, next token": GPT2,
    "mc": ROBERTA,
    "rc, transformer": ROBERTA,
    "structured_prediction, transformer": BERT,
}
"""Which transformer."""

OF_ELMO = ("tagging", "pair_classification", "rc")


def write_transformers(folder: Path) -> None:
    """The transformers, each in a folder of its name."""
    write_transformer(folder / ROBERTA, "Roberta")
    write_transformer(folder / BERT, "Bert")
    write_transformer(folder / GPT2, "GPT2")
    tokenizer = tokenizer_of("Roberta")
    sizes = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2}
    sizes |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    sizes |= {"encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "init_std": 1}
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), max_position_embeddings=LIMIT, **sizes
    )
    transformers.BartForConditionalGeneration(config).save_pretrained(folder / BART)
    tokenizer.save_pretrained(folder / BART)
    _write_t5(folder / T5)


def _write_t5(folder: Path) -> None:
    """AllenNLP's T5 reads the older file of weights."""
    words = tokenizers.models.WordLevel(
        {word: number for number, word in enumerate(_T5_WORDS)}, unk_token="<unk>"
    )
    plain = tokenizers.Tokenizer(words)
    plain.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    plain.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    config = transformers.T5Config(
        vocab_size=len(_T5_WORDS),
        d_model=16,
        d_kv=8,
        d_ff=24,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
    )
    model = transformers.T5ForConditionalGeneration(config)
    model.save_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    tokenizer.save_pretrained(folder)


def replaced(value: Any, places: dict[str, str]) -> Any:
    """A config with other texts in the place of some."""
    if isinstance(value, dict):
        return {key: replaced(part, places) for key, part in value.items()}
    if isinstance(value, list):
        return [replaced(part, places) for part in value]
    if isinstance(value, str):
        return places.get(value, value)
    return value


def train(name: str, folder: Path) -> Path:
    """
    Trains the model of a family with AllenNLP's own command, in a folder with the
    transformers, which is the current one; returns the folder of the run.
    """
    family = {**FAMILIES, **WITHOUT_PREDICTOR}[name]
    bilm = bilm_files(folder / "bilm")
    places = {"OPTIONS": bilm["options_file"], "WEIGHTS": bilm["weight_file"]}
    corpus = str(family.corpus(folder))
    config = {
        **replaced(family.config, places),
        "train_data_path": corpus,
        "validation_data_path": corpus,
        "data_loader": {"batch_size": 2},
        "trainer": {
            "num_epochs": 2,
            "optimizer": {"type": "adam", "lr": 0.01},
            "run_confidence_checks": False,
        },
    }
    run = folder / name.replace(",", "").replace(" ", "-")
    train_model(Params(config), run)
    return run


def config_of(run: Path) -> Params:
    """The config of a run."""
    return Params.from_file(run / "config.json")
