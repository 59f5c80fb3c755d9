"""
The five tasks that `peers.py` trains: the same texts for both packages, the config of
ours, and that of the model of allennlp-models with the same sizes.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from elmo_tasks import resources
from elmo_tasks.tasks.reader import BlankSpacyTokenizer
from elmo_tasks.training.config import read_config

EPOCHS = 2
"""The first one warms up, and fills the layer cache; the second one is measured."""

ELMO_DROPOUT = 0.1
SENTENCES = 20
"""Sentences of a document of coreference, all of which are read in each epoch."""

BRACKETS = "()[]{}"
WORD = re.compile(r"[^\s()\"]+")
Config = dict[str, Any]


@dataclass(frozen=True)
class Files:
    """What both packages read."""

    texts: Path
    vectors: Path
    options: Path
    weights: Path


@dataclass(frozen=True)
class Peer:
    """
    A task.

    # Parameters

    - `name`: of our configs.
    - `count`: sentences, pairs or documents of an epoch.
    - `suffix`: of the file with the texts, by which the readers choose files.
    - `clean`: the file's texts that both packages read, as lines of a file.
    - `changes`: what differs from our config, by dotted keys.
    - `theirs`: dataset reader and model of allennlp-models, from our config and the
      width of the embeddings, and the embedders and indexers of tokens.
    """

    name: str
    count: int
    suffix: str
    clean: Callable[[Path], Iterator[str]]
    changes: Config
    theirs: Callable[[Config, int, Config, Config], tuple[Config, Config]]


def has_bracket(words: Iterable[str]) -> bool:
    """
    Whether the readers of allennlp-models may fail on a sentence: they insert the words
    into a bracketed parse.
    """
    for word in words:
        if word in ("-LRB-", "-RRB-") or any(mark in word for mark in BRACKETS):
            return True
    return False


def pairs(file: Path) -> Iterator[str]:
    """SNLI: the words of both sentences, with blanks and as a parse."""
    words_of = BlankSpacyTokenizer().words
    for line in file.read_text("utf-8").splitlines():
        pair = json.loads(line)
        if pair["gold_label"] == "-":
            continue
        record = {"gold_label": pair["gold_label"]}
        for key in ("sentence1", "sentence2"):
            words = words_of(pair[key])
            record[key] = " ".join(words)
            record[f"{key}_binary_parse"] = f"( {record[key]} )"
        if not has_bracket((record["sentence1"] + " " + record["sentence2"]).split()):
            yield json.dumps(record, ensure_ascii=False) + "\n"


def trees(file: Path) -> Iterator[str]:
    """SST: one tree a line."""
    for line in file.read_text("utf-8").splitlines():
        words = [part.rstrip(")") for part in line.split() if part.endswith(")")]
        if words and not has_bracket(words):
            yield line + "\n"


def documents(file: Path) -> Iterator[list[list[str]]]:
    """The sentences of each document of CoNLL-2012, as lists of lines."""
    if file.is_dir():
        (file,) = sorted(file.rglob("*gold_conll"))
    kept: list[list[str]] = []
    sentence: list[str] = []
    for line in file.read_text("utf-8").splitlines() + [""]:
        if line.startswith("#end"):
            yield kept
            kept = []
        elif line and not line.startswith("#"):
            sentence.append(line)
        elif sentence:
            if not has_bracket(row.split()[3] for row in sentence):
                kept.append(sentence)
            sentence = []


def column_sentences(file: Path) -> Iterator[str]:
    """
    Sentences of CoNLL-2012 that have a predicate, each as a document. The reader of
    allennlp-models would make an instance of the others, too.
    """
    for sentences in documents(file):
        for number, lines in enumerate(sentences):
            if all(line.split()[7] == "-" for line in lines):
                continue
            yield document_of([lines], lines[0].split()[0], number)


def column_documents(file: Path) -> Iterator[str]:
    """The first sentences of each document that has enough."""
    for sentences in documents(file):
        if len(sentences) >= SENTENCES:
            first = sentences[:SENTENCES]
            yield document_of(first, first[0][0].split()[0], 0)


def document_of(sentences: list[list[str]], name: str, part: int) -> str:
    """A document in CoNLL-2012's format."""
    lines = [f"#begin document ({name}); part {part:03}"]
    for sentence in sentences:
        lines += sentence
        lines.append("")
    lines.append("#end document")
    return "\n".join(lines) + "\n"


def entities(file: Path) -> Iterator[str]:
    """NER: four columns with tags in IOB1, which AllenNLP's reader expects."""
    for block in file.read_text("utf-8").split("\n\n"):
        rows = [line.split() for line in block.splitlines() if line.strip()]
        if not rows or rows[0][0] == "-DOCSTART-":
            continue
        tags = iob1([row[-1] for row in rows])
        lines = []
        for row, tag in zip(rows, tags, strict=True):
            lines.append(f"{row[0]} -X- O {tag}\n")
        yield "".join(lines) + "\n"


def iob1(tags: list[str]) -> list[str]:
    """BIO or IOB1 as IOB1: B- only after another span of the same type."""
    changed = []
    before = "O"
    for tag in tags:
        if tag.startswith("B-") and before[2:] != tag[2:]:
            changed.append("I-" + tag[2:])
        else:
            changed.append(tag)
        before = tag
    return changed


def lstm(size: int, hidden: int, layers: int = 1, dropout: float = 0.0) -> Config:
    return {
        "type": "lstm",
        "input_size": size,
        "hidden_size": hidden,
        "num_layers": layers,
        "dropout": dropout,
        "bidirectional": True,
    }


def feedforward(size: int, hidden: list[int], last: str, dropout: Any = 0.0) -> Config:
    return {
        "input_dim": size,
        "num_layers": len(hidden),
        "hidden_dims": hidden,
        "activations": ["relu"] * (len(hidden) - 1) + [last],
        "dropout": dropout,
    }


Parts = tuple[Config, Config]


def esim(ours: Config, width: int, embedders: Config, indexers: Config) -> Parts:
    hidden = ours["model"]["hidden_size"]
    dropout = ours["model"]["dropout"]
    reader = {
        "type": "snli",
        "tokenizer": {"type": "just_spaces"},
        "token_indexers": indexers,
    }
    model = {
        "type": "esim",
        "text_field_embedder": {"token_embedders": embedders},
        "encoder": lstm(width, hidden),
        "matrix_attention": {"type": "dot_product"},
        "projection_feedforward": feedforward(8 * hidden, [hidden], "relu"),
        "inference_encoder": lstm(hidden, hidden),
        "output_feedforward": feedforward(8 * hidden, [hidden], "relu", dropout),
        "output_logit": feedforward(hidden, [3], "linear"),
        "dropout": dropout,
    }
    return reader, model


def srl(ours: Config, width: int, embedders: Config, indexers: Config) -> Parts:
    embedded = ours["model"]["text_field_embedder"]["token_embedders"]
    size = embedded["predicate"]["embedding_dim"]
    encoder = ours["model"]["encoder"]
    model = {
        "type": "srl",
        "text_field_embedder": {"token_embedders": embedders},
        "binary_feature_dim": size,
        "ignore_span_metric": True,
        "encoder": {
            "type": "alternating_lstm",
            "input_size": width + size,
            "hidden_size": encoder["hidden_size"],
            "num_layers": encoder["num_layers"],
            "recurrent_dropout_probability": encoder["dropout"],
            "use_highway": True,
        },
    }
    return {"type": "srl", "token_indexers": indexers}, model


def coref(ours: Config, width: int, embedders: Config, indexers: Config) -> Parts:
    model = ours["model"]
    hidden = 2 * [model["hidden_size"]]
    size = model["encoder"]["hidden_size"]
    features = model["feature_size"]
    span = 4 * size + features + width
    reader = {
        "type": "coref",
        "token_indexers": indexers,
        "max_span_width": model["max_span_width"],
    }
    theirs = {
        "type": "coref",
        "text_field_embedder": {"token_embedders": embedders},
        "context_layer": lstm(width, size),
        "mention_feedforward": feedforward(span, hidden, "relu", model["dropout"]),
        "antecedent_feedforward": feedforward(
            3 * span + features, hidden, "relu", model["dropout"]
        ),
        "feature_size": features,
        "max_span_width": model["max_span_width"],
        "spans_per_word": model["spans_per_word"],
        "max_antecedents": model["max_antecedents"],
        "lexical_dropout": model["input_dropout"],
    }
    return reader, theirs


def bcn(ours: Config, width: int, embedders: Config, indexers: Config) -> Parts:
    model = ours["model"]
    encoder = model["encoder"]
    (hidden,) = encoder["hidden_sizes"]
    head = [*model["head"]["hidden_sizes"], 5]
    embedders = dict(embedders)
    elmo = embedders.pop("elmo", None)
    theirs = {
        "type": "bcn",
        "text_field_embedder": {"token_embedders": embedders},
        "embedding_dropout": model["input_dropout"],
        "pre_encode_feedforward": feedforward(
            width, [encoder["feedforward_size"]], "relu", encoder["feedforward_dropout"]
        ),
        "encoder": lstm(encoder["feedforward_size"], hidden),
        "integrator": lstm(6 * hidden, hidden),
        "integrator_dropout": model["pooled_dropout"],
        "output_layer": feedforward(
            8 * hidden, head, "linear", [*model["head"]["dropout"], 0.0]
        ),
    }
    if elmo is not None:
        del elmo["type"]
        theirs["elmo"] = elmo | {"num_output_representations": 1}
        theirs["use_input_elmo"] = True
    return {"type": "sst_tokens", "token_indexers": indexers}, theirs


def crf(ours: Config, width: int, embedders: Config, indexers: Config) -> Parts:
    encoder = ours["model"]["encoder"]
    hidden = encoder["hidden_sizes"]
    dropout = encoder["dropout"]
    reader = {
        "type": "conll2003",
        "convert_to_coding_scheme": "BIOUL",
        "token_indexers": indexers,
    }
    model = {
        "type": "crf_tagger",
        "label_encoding": "BIOUL",
        "include_start_end_transitions": False,
        "dropout": dropout,
        "text_field_embedder": {"token_embedders": embedders},
        "encoder": lstm(width, hidden[0], len(hidden), dropout),
    }
    return reader, model


NO_PENALTIES = {"model.attention_dropout": 0.0, "model.weight_l2": 0.0}
"""What our SNLI model adds with ELMo."""

PEERS = (
    Peer(
        "snli",
        1024,
        "jsonl",
        pairs,
        {"dataset_reader.tokenization": "parse"} | NO_PENALTIES,
        esim,
    ),
    Peer(
        "srl",
        50,
        "gold_conll",
        column_sentences,
        {"dataset_reader.verbs_only": False},
        srl,
    ),
    Peer("coref", 3, "gold_conll", column_documents, {}, coref),
    Peer(
        "sst",
        500,
        "txt",
        trees,
        {"dataset_reader.min_phrase_length": None},
        bcn,
    ),
    Peer(
        "ner",
        500,
        "train",
        entities,
        {"model.encoder.hidden_sizes": [200, 200]},
        crf,
    ),
)
"""
By name. AllenNLP's `lstm` has layers of one size, and so has our tagger's here.
"""

SHARED: Config = {
    "trainer.num_epochs": EPOCHS,
    "trainer.optimizer": {"type": "adam", "lr": 1e-3},
    "trainer.grad_norm": 5.0,
    "trainer.grad_clipping": None,
    "trainer.learning_rate_scheduler": None,
    "trainer.callbacks": [{"type": "peer_times"}],
}
"""Of both configs."""


def our_config(
    peer: Peer, scale: str, files: Files, elmo: bool, cache: Path | None
) -> Config:
    """The config of this package."""
    name = f"{peer.name}_elmo.jsonnet" if elmo else f"{peer.name}.jsonnet"
    folder = resources.scale_folder(resources.configs_root(), scale)
    config: Config = read_config(folder / name).as_dict(quiet=True)
    changes = SHARED | peer.changes | {"train_data_path": str(files.texts)}
    sampler = config["data_loader"].get("batch_sampler")
    if sampler is not None:
        changes["data_loader.batch_sampler.padding_noise"] = 0.0
        changes["data_loader.batches_per_epoch"] = None
    words = "model.text_field_embedder.token_embedders.tokens"
    changes[f"{words}.pretrained_file"] = str(files.vectors)
    changes[f"{words}.keep_all_pretrained"] = False
    if elmo:
        changes |= {
            "model.elmo.options_file": str(files.options),
            "model.elmo.weight_file": str(files.weights),
            "model.elmo.at": "input",
            "model.elmo.l2": None,
            "model.elmo.layer_norm": False,
            "model.elmo.dropout": ELMO_DROPOUT,
        }
        if cache is not None:
            changes["model.elmo.cache_dir"] = str(cache)
        if peer.name == "coref":  # as in theirs, which makes heads of all embeddings
            changes["model.head_values"] = "input"
    for key in ("validation_data_path", "validation_data_loader", "evaluation"):
        config.pop(key, None)
    config.pop("validation_dataset_reader", None)
    for key, value in changes.items():
        *path, last = key.split(".")
        place = config
        for part in path:
            place = place[part]
        place[last] = value
        if value is None:
            del place[last]
    return config


def their_config(peer: Peer, scale: str, files: Files, elmo: bool) -> Config:
    """The config of allennlp-models with the sizes of ours."""
    ours = our_config(peer, scale, files, elmo, None)
    parts = ours["model"]["text_field_embedder"]["token_embedders"]
    width = parts["tokens"]["embedding_dim"]
    embedders: Config = {
        "tokens": {
            "type": "embedding",
            "embedding_dim": width,
            "pretrained_file": str(files.vectors),
            "trainable": parts["tokens"]["trainable"],
        }
    }
    indexers: Config = {"tokens": {"type": "single_id"}}
    if "token_characters" in parts:
        embedders["token_characters"] = parts["token_characters"]
        encoder = parts["token_characters"]["encoder"]
        sizes = encoder["ngram_filter_sizes"]
        width += encoder["num_filters"] * len(sizes)
        indexers["token_characters"] = {
            "type": "characters",
            "min_padding_length": max(sizes),
        }
    if elmo:
        options = json.loads(files.options.read_text("utf-8"))
        width += 2 * options["lstm"]["projection_dim"]
        indexers["elmo"] = {"type": "elmo_characters"}
        embedders["elmo"] = {
            "type": "elmo_token_embedder",
            "options_file": str(files.options),
            "weight_file": str(files.weights),
            "do_layer_norm": False,
            "dropout": ELMO_DROPOUT,
        }
        if peer.name == "sst":  # their model has another key for ELMo
            embedders["elmo"].pop("projection_dim", None)
    reader, model = peer.theirs(ours, width, embedders, indexers)
    trainer = {key: value for key, value in ours["trainer"].items() if key != "type"}
    for key in ("validation_metric", "checkpointer"):
        trainer.pop(key, None)
    return {
        "dataset_reader": reader,
        "train_data_path": str(files.texts),
        "model": model,
        "data_loader": ours["data_loader"],
        "trainer": trainer,
    }


def write_files(peer: Peer, scale: str, folder: Path) -> Files:
    """
    Writes what both packages read: the first texts of our config's training data,
    cleaned, and the word vectors of their words. Files that are there stay.
    """
    configs = resources.scale_folder(resources.configs_root(), scale)
    config = read_config(configs / f"{peer.name}_elmo.jsonnet")
    texts = folder / "texts" / f"train.{peer.suffix}"
    if peer.name == "srl":  # their reader takes a folder
        texts = folder / "texts"
    vectors = folder / "vectors.txt"
    elmo = config["model"]["elmo"]
    files = Files(texts, vectors, Path(elmo["options_file"]), Path(elmo["weight_file"]))
    if vectors.is_file():
        return files
    cleaned = list(islice(peer.clean(Path(config["train_data_path"])), peer.count))
    text = "".join(cleaned)
    (folder / "texts").mkdir(parents=True, exist_ok=True)
    (folder / "texts" / f"train.{peer.suffix}").write_text(text, "utf-8")
    words = set(WORD.findall(text) + WORD.findall(text.lower()))
    embedders = config["model"]["text_field_embedder"]["token_embedders"]
    with gzip.open(embedders["tokens"]["pretrained_file"], "rt", -1, "utf-8") as file:
        lines = [line for line in file if line.partition(" ")[0] in words]
    vectors.write_text("".join(lines), "utf-8")
    return files
