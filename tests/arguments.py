"""
The types of arguments, each with values that are not of it, values at its edges, and
the names that arguments of it have in constructors, functions, settings and commands.

A name stands for one type everywhere, unless the table has it with the name of a class
or function before it, as in `Staircase.factor`.
"""

from math import inf, nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch

ANY_LENGTH = f"https://h/{'x' * 5000}"
NO_NUMBERS: list[Any] = [True, "5", b"5", [], {}, object, nan, inf, -inf]
NO_INTEGERS: list[Any] = [*NO_NUMBERS, 1.5]
LARGEST = 2**31 - 1


class Type(NamedTuple):
    """
    A type of arguments. `names` are those of arguments that have it; `expected` is a
    pattern of what an error says.
    """

    names: str
    expected: str
    bad: list[Any]
    good: list[Any]


def integers(least: int, most: int, names: str) -> Type:
    """The type of integers from `least` to `most`."""
    bad = [*NO_INTEGERS, least - 1, most + 1, -(10**400), 10**400]
    good = [least, most, np.int64(most)]
    return Type(names, rf"an integer (of at least|from) {least}\b", bad, good)


TYPES = {
    "size": integers(
        1,
        LARGEST,
        "batch_size batches_per_epoch every max_antecedents"
        " max_instances max_instances_in_memory max_length max_span_length max_tokens"
        " max_training_sentences min_count min_phrase_length most n_best num_epochs"
        " num_gradient_accumulation_steps occurrence parent"
        " ResumableTrainer.patience perplexity.rows seeds size steps_per_epoch"
        " top unroll vocabulary_size workers",
    ),
    "count": integers(
        0,
        LARGEST,
        "cooldown layer num_workers overlap patience softmax_epochs",
    ),
    "width": integers(
        1,
        1_000_000,
        "character_dim classes dim embedding_dim feature_size feedforward_size"
        " hidden_size input_dim input_size max_span_width num_filters output_dim"
        " projection_dim CharacterCnn.width",
    ),
    "depth": integers(1, 100, "n_layers num_layers pool_size"),
    "padding": integers(0, 1_000_000, "token_min_padding_length"),
    "device number": integers(-1, LARGEST, "ColumnReader.word cuda_device"),
    "seed": integers(0, 2**32 - 1, "seed share_seed"),
    "highway layers": integers(0, 100, "n_highway"),
    "negatives": integers(2, LARGEST, "negatives"),
    "characters": integers(10, 256, "max_characters_per_token"),
    "port": integers(0, 65_535, "port"),
    "servers": integers(1, 256, "serve.workers"),
    "mantissa": integers(0, 23, "mantissa_bits"),
    "held out": Type(
        "heldout",
        "(an integer (of at least|from) 0|0, or an integer of at least 2)",
        [*NO_INTEGERS, -1, 1, LARGEST + 1],
        [0, 2, LARGEST],
    ),
    "epoch": Type(
        "last_epoch", "an integer (of at least|from) -1", [*NO_INTEGERS, -2], [-1, 0]
    ),
    "factor": Type(
        "cell_clip eps l2 proj_clip threshold weight_l2",
        "a number (of at least|from) 0",
        [*NO_NUMBERS, -0.001, 10**400],
        [0, 0.5, 3e38],
    ),
    "positive": Type(
        "cache_limit_gb denominator download_limit grad_clipping loss_scale numerator"
        " perplexity share spans_per_word Staircase.factor",
        "a number above 0",
        [*NO_NUMBERS, 0, -1, 10**400],
        [1e-9, 1, 3e38],
    ),
    "share of words": Type(
        "unknown_share", "a number from 0 to 1", [*NO_NUMBERS, -0.1, 1.1], [0, 0.5, 1]
    ),
    "timeout": Type(
        "timeout", "a number above 0", [*NO_NUMBERS, 0, 86_401], [0.1, 86_400]
    ),
    "probability": Type(
        "attention_dropout decay dropout factor feedforward_dropout input_dropout"
        " output_dropout pooled_dropout reset_probability",
        "a number of at least 0 and below 1",
        [*NO_NUMBERS, -0.1, 1, 1.0, -(10**400)],
        [0, 0.5, np.float32(0.25)],
    ),
    "norm": Type(
        "grad_norm",
        "a number above 0.* or one of false",
        [True, 0, -1, "5", [], nan, inf],
        [False, None, 5.0],
    ),
    "widths": Type(
        "hidden_sizes ngram_filter_sizes widths",
        "",
        [[], [0], [1, 1.5], [True], ["5"], [1_000_001], 5, "5", {}],
        [[1], [3, 1_000_000]],
    ),
    "widths, or none": Type(
        "MaxoutHead.hidden_sizes", "", [[0], [1, 1.5], [1_000_001], 5], [[], [3]]
    ),
    "probabilities": Type(
        "MaxoutHead.dropout ReluHead.dropout",
        "",
        [[1], [0.1, -0.1], [nan], [True], ["5"], 0.5, {}],
        [[], [0], [0.5, 0.9]],
    ),
    "numbers": Type(
        "values", "", [[], [nan], [inf], [True], ["5"], 5, {}], [[0], [-1, 0.5]]
    ),
    "factor or factors": Type(
        "min_lr", "", [-1, nan, True, "5", [-1], [nan], ["5"], {}], [0, 1e-9, [0, 1]]
    ),
    "device numbers": Type(
        "cuda_devices", "", [[], [-2], [0.5], [True], 0, "0", {}], [[-1], [0, 1]]
    ),
    "part": Type(
        "part", "", [0.5, [0], [0, 2], [0.5, 0.5], [-1, 1], "ab"], [[0, 1], (0.1, 0.2)]
    ),
    "flag": Type(
        "allow_downloads archive cached comments compress create_pr crf"
        " dropout_outputs gamma keep_all_pretrained legal normalize offline"
        " orthonormal_input packed private Elmo.embed.progress"
        " Elmo.embed_sentences.progress shuffle spans sum_losses sum_token_losses"
        " tensors trainable use_skip_connections variational_dropout verbose verbs_only"
        " word_vectors wrapped",
        "true or false",
        [0, 1, "yes", "", [], {}, np.array([True, False])],
        [True, False],
    ),
    "choice": Type(
        "BlankSpacyTokenizer.language ColumnReader.language SnliReader.language"
        " SquadReader.language SquadTokenizer.language activation at chosen format"
        " head_values input_format layer_norm mix mode pieces"
        " pooling precision quoting scale source start_method state stored tag threshold_mode"
        " tokenization unknown",
        "",
        ["", "nope", 1.5, True, [], ["nope"], b"all", np.array([1, 2])],
        [],
    ),
    "metric": Type("validation_metric", "", ["", "f1", 5, [], ["f1"]], ["+f1", ["-x"]]),
    "filters": Type(
        "filters", "", [[], [[1]], [[0, 1]], [[1, 1.5]], 5, "ab"], [((1, 32),)]
    ),
    "language of text": Type(
        "CardSettings.language CardSettings.license CardSettings.text Elmo.language"
        " Elmo.license Elmo.text",
        "",
        ["", " ", "\0", 5, True, [], b"la"],
        ["la"],
    ),
    "path": Type(
        "archive_file cache_dir config copy corpus data serve.examples figures file folder input_file"
        " WordSurprisal.from_pretrained.model lookup_file model options options_file out out_dir output output_file"
        " predictions_output_file pretrained_file run runs serialization_dir"
        " bilm-surprisal.sentences ablate.table test train vectors vectors_file weight_file"
        " weights_file",
        "a path",
        ["", "a\0b", "x" * 5000, 5, b"x", True, [], {}],
        ["a", Path("a"), ANY_LENGTH],
    ),
    "paths": Type(
        "archives configs static.corpus files inputs pairs",
        "",
        ["", "a\0b", "x" * 5000, 5, b"x", [], [""], [5], {}],
        ["a", ["a", "b"]],
    ),
    "list of paths": Type(
        "lookup_files", "", ["a", 5, [""], ["a\0b"], [5], {}], [["a", "b"]]
    ),
    "path or files": Type(
        "BiLMModel.tuned.bilm",
        "",
        ["", "a\0b", 5, [], {}, {"options_file": "a"}],
        ["a", {"options_file": "a", "weight_file": "b"}],
    ),
    "path object": Type(
        "Session.folder Session.runs",
        "a path",
        ["a", 5, b"x", [], True],
        [Path("a")],
    ),
    "config": Type(
        "BiLMModel.options TaskReader.token_indexers TunedModel.from_archive.model",
        "an object",
        [5, "x", []],
        [],
    ),
    "token": Type("token", "", [5, [], b"x"], ["x", True]),
    "text": Type(
        "Ancestor.licence Ancestor.name Ancestor.sha256 Ancestor.text"
        " BiLM.from_files.precision column commit_message language license"
        " namespace repo_id revision separator sorting_key table"
        " Session.scale text text_field"
        " vocab_namespace WordSurprisal.iter_file.column",
        "",
        [1.5, True, b"x", [], {}],
        [],
    ),
    "texts": Type("fields Session.rows", "", [5, [5], [None], {}], []),
    "any": Type(
        "ablate.rows BiLanguageModel.bilm"
        " ConcatenatedVectors.parts CorefPredictor.frozen CorefPredictor.model"
        " bilm-perplexity.device bilm-score.device bilm-surprisal.device elmo.device"
        " evaluate.device predict.device probe-neighbors.device probe-pos.device"
        " probe-wsd.device static.device"
        " allow_host download Elmo.layers ElmoTokenEmbedder.mix Encoder.input_dim"
        " Encoder.output_dim group host include_package keep models.remove models.text overrides"
        " PairPredictor.frozen PairPredictor.model perplexity.files"
        " perplexity.model predictor prepare.inputs ray regions"
        " ResumableTrainer.model sentence_losses.model SentencePredictor.frozen"
        " SentencePredictor.model Session.workers static.layers"
        " tasks tokenizer WeightsAndBiases.serialization_dir word"
        " WordSurprisal.model WordSurprisal.one WordSurprisal.other"
        " WordVocabulary.count.files",
        "",
        [],
        [],
    ),
}
"""
An empty pattern: an error names the argument, or a part of it, and says what is expected.
"""

OF_ELMO = {
    "layers": Type(
        "layers",
        "layers: ",
        [
            *(None, True, 1.0, [], [0, 1], {}, b"top", "", "tip", "x" * 5000, "a\0b"),
            *(-1, 3, np.array(1), np.array([0, 1]), np.array(["top"])),
            *(np.array(["top", "all"]), np.zeros((2, 2)), torch.tensor(1)),
        ],
        [],
    ),
    "tokenizer": Type(
        "tokenizer",
        "expected .*, got",
        ["", "nope", "spacy:", "spacy:zz", 5, [], True, np.array([1, 2])],
        [],
    ),
    "device": Type(
        "device",
        "device: ",
        [
            *("", "cdua", "meta", "cpu:x", True, 1.5, 99, -2, [], b"cpu", 2**70),
            *(torch.device("meta"), torch.float32, np.array([0, 1])),
        ],
        [],
    ),
    "sentences": Type(
        "sentences texts",
        "a (list of sentences|string or a list of words)",
        [
            *("one string", b"bytes", 5, None, {"a": 1}, {"a"}, np.array("a")),
            *(SimpleNamespace(), [None], [5], [b"bytes"], [{"a": 1}], [{"a"}]),
            *([np.array("a")], [torch.tensor(1)], [["a", 1]], [["a", None]]),
            *([["a", b"b"]], [[["a"]]], ["right", None]),
        ],
        [],
    ),
    "words": Type(
        "words",
        "words: expected",
        ["ab", b"ab", 5, None, [None], [5], {"a"}, np.array("a")],
        [],
    ),
    "batch": Type(
        "batch", "expected .*, got", [None, 5, [], "tokens", {}, {"text": []}], []
    ),
    "column": Type("column", "column: expected", ["", "text", None, 5, []], []),
    "function": Type("progress", "progress: expected a function", [5, "x", True], []),
}
"""Types that only the methods of `Elmo` and `WordSurprisal` have, checked in their bodies."""
