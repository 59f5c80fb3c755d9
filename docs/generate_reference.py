"""
The reference pages for configs, tables and the command line. `make generated`
writes them.

Types, ranges and defaults come from the annotations of constructors,
meanings from the annotations or from the `# Parameters` of docstrings, and options from
the command line's parsers.
"""

import argparse
import inspect
import os
import re
import types
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from allennlp.commands.train import TrainModel
from allennlp.common import Lazy, Registrable
from allennlp.data import (
    BatchSampler,
    DataLoader,
    DatasetReader,
    TokenIndexer,
    Tokenizer,
    Vocabulary,
)
from allennlp.evaluation import Evaluator
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder, Seq2VecEncoder, TokenEmbedder
from allennlp.nn import Initializer
from allennlp.predictors import Predictor
from allennlp.training import Trainer
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.metrics import Metric
from allennlp.training.moving_average import MovingAverage

import elmo_tasks.plugin  # noqa: F401
from docs.extensions.docstrings import NAMES, in_words
from elmo_tasks.bilm.options import KEYS, BiLMOptions
from elmo_tasks.cli.main import COMMANDS, LIGHT, parsers
from elmo_tasks.experiments.tables.table import (
    Ensemble,
    Paper,
    Row,
    Table,
)
from elmo_tasks.nn.elmo_embedder import ElmoSettings, ElmoTokenEmbedder
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.settings import annotations, as_json, meaning
from elmo_tasks.tasks.reader import TaskReader
from elmo_tasks.tasks.sst.layers import Head
from elmo_tasks.tasks.task_model import TaskModel
from elmo_tasks.training.checks.keys import (
    BESIDE_TRAINING,
    GIVEN_TO_TRAINING,
    VARIABLE,
    Distributed,
    parameters_of,
)
from elmo_tasks.training.checks.training import CheckedTrainModel
from elmo_tasks.training.folder import DATA_PATHS

DOCS = Path(__file__).resolve().parent

HEADER = ["| key | values | default | meaning |", "|---|---|---|---|"]

REQUIRED = "required"

SECTIONS: dict[type[Registrable], tuple[str, str]] = {
    DatasetReader: ("Readers", "`dataset_reader`, `validation_dataset_reader`"),
    TokenIndexer: ("Token indexers", "`dataset_reader.token_indexers.NAME`"),
    Tokenizer: ("Tokenizers", "readers of your own that take a tokenizer"),
    TokenEmbedder: (
        "Token embedders",
        "`model.text_field_embedder.token_embedders.NAME`",
    ),
    Seq2SeqEncoder: (
        "Encoders",
        "`model.encoder`, `model.elmo_output_encoder`, `model.composition`,"
        " `model.integrator`; the input width (`input_size`) is inferred",
    ),
    Seq2VecEncoder: (
        "Character encoders",
        "the `encoder` of AllenNLP's token embedder `character_encoding`",
    ),
    Head: ("Heads", "`model.head` of `elmo_tasks_sst`"),
    Initializer: ("Initializers", "`model.initializer.regexes`"),
    DataLoader: ("Data loaders", "`data_loader`, `validation_data_loader`"),
    BatchSampler: ("Batch samplers", "`data_loader.batch_sampler`"),
    Vocabulary: ("Vocabularies", "`vocabulary`"),
    Trainer: ("Trainer", "`trainer`"),
    TrainerCallback: ("Callbacks", "`trainer.callbacks`, a list"),
    LearningRateScheduler: (
        "Learning-rate schedulers",
        "`trainer.learning_rate_scheduler`",
    ),
    MovingAverage: ("Moving averages", "`trainer.moving_average`"),
    Evaluator: ("Evaluators", "`evaluation`"),
}
"""The title of each kind of class, and where a config names one."""

WITHOUT_SECTION = (Model, Metric, Predictor, TrainModel)
"""Kinds that stand elsewhere on the page, or in no config."""

PARTS: dict[type, tuple[str, str]] = {
    Table: ("Table", "The object in the file."),
    Row: (
        "Row",
        "An element of `rows`: a config, the keys that the row changes, and its score, a mean over the seeds.",
    ),
    Paper: (
        "Published result",
        "The key `paper` of a row. A plain number is short for `{ mean: NUMBER }`.",
    ),
    Ensemble: (
        "Ensemble",
        "The key `ensemble` of a row, which then combines the runs of another row.",
    ),
}
"""The title and meaning of each part of a table."""


class DataPath:
    """What the keys of data take."""


SUPPLIED: dict[type, tuple[str, ...]] = {
    TrainModel: GIVEN_TO_TRAINING,
    Model: ("vocab", "serialization_dir", "ddp_accelerator"),
    DatasetReader: (
        "serialization_dir",
        "manual_distributed_sharding",
        "manual_multiprocess_sharding",
    ),
    TokenEmbedder: ("vocab",),
    Seq2SeqEncoder: ("input_size",),
    Head: ("input_dim", "classes"),
    DataLoader: ("reader", "data_path", "collate_fn"),
    Trainer: (
        "serialization_dir",
        "local_rank",
        "world_size",
        "distributed",
        "model",
        "data_loader",
        "validation_data_loader",
        "ddp_wrapped_model",
        "ddp_accelerator",
    ),
    TrainerCallback: ("serialization_dir",),
    LearningRateScheduler: ("optimizer", "last_epoch"),
    Evaluator: ("cuda_device",),
    MovingAverage: ("parameters",),
    Predictor: ("model", "dataset_reader"),
}
"""Arguments that the code passes, so that a config does not have them."""

PARAMETERS = re.compile(r"^- (`\w+`(?:, `\w+`)*): (.*(?:\n  .*)*)", re.MULTILINE)
"""An entry among the `# Parameters` of a docstring."""

GENERATED = (
    "<!-- Generated from the code by `make generated`: do not edit it by hand. -->"
)


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    found = {}
    for name, lines in (
        ("reference-configs.md", configs()),
        ("reference-tables.md", tables()),
        ("reference-cli.md", command_line()),
    ):
        found[name] = "\n".join(lines) + "\n"
    return found


# Configs


def configs() -> Iterator[str]:
    """The lines of the page about configs."""
    yield from (
        "# Reference: keys of a config",
        "",
        "The keys of a config, with their values, defaults and meanings. How to write and change a config:"
        " [Configs](CONFIGS.md).",
        "",
        GENERATED,
        "",
        "Where a value is a class, write an object whose `type` is one of the class's names on this page or"
        " one of AllenNLP's. Its other keys are those of the name's table.",
        "",
        "## Top level",
        "",
    )
    yield from top_level()
    yield from ("## Task models", "")
    yield from task_models()
    yield from ("## model.elmo", "")
    yield "Where ELMo enters a model, and how. How to use these keys: [Layers](LAYERS.md)."
    yield ""
    yield from settings_table(ElmoSettings)
    yield from ("## Language models", "")
    yield "Configs of a [biLM](PRETRAIN.md), in place of a task model."
    yield ""
    for name in sorted(Model.list_available()):
        if is_ours(Model, name) and not is_task_model(name):
            yield from class_section(Model, name)
    yield from ("## model.options", "")
    yield "The architecture of `elmo_tasks_bilm`, with the structure of an official `options.json`."
    yield ""
    yield from options_table()
    for kind, (title, place) in SECTIONS.items():
        yield from (f"## {title}", "", f"In a config: {place}.", "")
        if kind is DatasetReader:
            yield "All readers of tasks have these keys:"
            yield ""
            yield from key_table(shared_of_readers(), meanings(TaskReader))
        for name in sorted(kind.list_available()):
            if is_ours(kind, name):
                yield from class_section(kind, name)


def top_level() -> Iterator[str]:
    """The keys of the whole config, and those of `distributed`."""
    constructor = TrainModel.from_partial_objects
    parameters = parameters_of(TrainModel, constructor)
    for key in DATA_PATHS:
        parameters[key] = parameters[key].replace(annotation=DataPath)
    for key, annotation in BESIDE_TRAINING.items():
        parameters[key] = Parameter(
            key, Parameter.KEYWORD_ONLY, default=None, annotation=annotation
        )
    supplied = SUPPLIED[TrainModel]
    texts = meanings(CheckedTrainModel)
    yield from key_table(without(parameters, supplied), texts)
    yield from ("## distributed", "", summary(Distributed), "")
    parameters = parameters_of(Distributed, Distributed.__init__)
    yield from key_table(without(parameters, supplied), meanings(Distributed))


def task_models() -> Iterator[str]:
    """The keys that all task models have, then those of each."""
    yield "`model`. All task models have these keys:"
    yield ""
    shared = shared_of_models()
    yield from key_table(shared, meanings(TaskModel) | meanings(InputEncoder))
    for name in sorted(Model.list_available()):
        if is_ours(Model, name) and is_task_model(name):
            yield from class_section(Model, name, shared)


def shared_of_models() -> dict[str, Parameter]:
    found = parameters_of(TaskModel, TaskModel.__init__)
    return without(found, SUPPLIED[Model])


def shared_of_readers() -> dict[str, Parameter]:
    found = parameters_of(TaskReader, TaskReader.__init__)
    return without(found, SUPPLIED[DatasetReader])


def is_ours(kind: type[Registrable], name: str) -> bool:
    cls, _ = kind.resolve_class_name(name)
    return bool(cls.__module__.startswith("elmo_tasks."))


def is_task_model(name: str) -> bool:
    cls, _ = Model.resolve_class_name(name)
    return issubclass(cls, TaskModel)


def class_section(
    kind: type[Registrable], name: str, shared: Mapping[str, Parameter] | None = None
) -> Iterator[str]:
    """A registered class: what it is, and its keys without those that are shared."""
    cls, method = kind.resolve_class_name(name)
    constructor = getattr(cls, method or "__init__")
    yield from (f"### {name}", "")
    documented = cls
    if constructor.__module__.startswith("elmo_tasks.") and method is not None:
        documented = constructor
    yield summary(documented)
    yield ""
    if cls is ElmoTokenEmbedder:
        yield "Its keys are those of [model.elmo](#modelelmo)."
        yield ""
        return
    parameters = annotated(cls, parameters_of(cls, constructor))
    own = without(parameters, SUPPLIED.get(kind, ()))
    if kind is DatasetReader and issubclass(cls, TaskReader):
        shared = shared_of_readers()
    if shared is not None:
        own = without(own, tuple(shared))
    if own:
        texts = meanings(cls)
        if method is not None:
            texts = texts | entries(inspect.getdoc(constructor) or "")
        yield from key_table(own, texts)
    elif shared:
        yield "No further keys."
        yield ""
    else:
        yield "No keys."
        yield ""


def annotated(cls: type, parameters: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """
    The parameters of a constructor of AllenNLP, with the ranges of our own one, which
    gets their values.
    """
    found = dict(parameters)
    for name, own in inspect.signature(cls.__init__).parameters.items():
        if name in found and "Annotated" in str(own.annotation):
            found[name] = found[name].replace(annotation=own.annotation)
    return found


def without(
    parameters: Mapping[str, Parameter], names: tuple[str, ...]
) -> dict[str, Parameter]:
    found = {}
    for key, parameter in parameters.items():
        if key not in names and parameter.kind not in VARIABLE:
            found[key] = parameter
    return found


def key_table(
    parameters: Mapping[str, Parameter], texts: Mapping[str, str]
) -> Iterator[str]:
    """A row for each argument of a constructor."""
    yield from HEADER
    for key, parameter in parameters.items():
        annotation = parameter.annotation
        if annotation is Parameter.empty:
            annotation = Any
        default = parameter.default
        yield row(
            f"`{key}`",
            values(annotation),
            default_of(default, annotation),
            sentence(meaning(annotation) or texts.get(key, "")),
        )
    yield ""


def settings_table(cls: type) -> Iterator[str]:
    """A row for each field of a dataclass."""
    yield from HEADER
    for key, annotation in annotations(cls).items():
        default = cls.__dataclass_fields__[key].default  # type: ignore[attr-defined]
        yield row(
            f"`{key}`",
            values(annotation),
            default_of(default, annotation),
            sentence(meaning(annotation)),
        )
    yield ""


def options_table() -> Iterator[str]:
    yield from HEADER
    texts = meanings(BiLMOptions)
    for field, annotation in annotations(BiLMOptions).items():
        default = BiLMOptions.__dataclass_fields__[field].default
        yield row(
            f"`{KEYS[field]}`",
            values(annotation),
            default_of(default, annotation),
            sentence(texts.get(field, "")),
        )
    yield ""


# Tables


def tables() -> Iterator[str]:
    """The lines of the page about tables."""
    yield from (
        "# Reference: keys of a table",
        "",
        "The Jsonnet file that `elmo-tasks ablate TABLE` reads. How to write one:"
        " [Tables](TABLES.md#your-own-table).",
        "",
        GENERATED,
        "",
        "Unknown keys are rejected, and `null` is the same as leaving"
        " the key out. While a table is evaluated, `std.extVar('scale')` is the value of `--scale`.",
        "",
    )
    for cls, (title, text) in PARTS.items():
        yield from (f"## {title}", "", text, "")
        yield from model_table(cls)


def model_table(cls: Any) -> Iterator[str]:
    """A row for each field of a pydantic model."""
    yield from HEADER
    for key, annotation in annotations(cls).items():
        field = cls.model_fields.get(key)
        if field is None or (cls, key) == (Table, "scale"):  # which the command sets
            continue
        default: Any = Parameter.empty
        if not field.is_required():
            default = field.default
        shown = default_of(default, annotation)
        text = sentence(meaning(annotation))
        yield row(f"`{key}`", values(annotation), shown, text)
    yield ""


# Command line


def command_line() -> Iterator[str]:
    """The lines of the page about commands."""
    yield from (
        "# Reference: the command line",
        "",
        "Every command and option of `elmo-tasks`, as `elmo-tasks COMMAND --help` prints them.",
        "",
        GENERATED,
        "",
    )
    light = ", ".join([f"`{name}`" for name in LIGHT])
    yield f"These commands do not need AllenNLP ([Install](INSTALL.md)): {light}."
    yield ""
    yield from ("| command | what it does |", "|---|---|")
    for name, text in COMMANDS.items():
        anchor = f"elmo-tasks-{name}"
        yield row(f"[`{name}`](#{anchor})", markdown(text))
    yield ""
    for name in COMMANDS:
        _, commands = parsers(name)
        yield from command_section(commands[name], "##")


def command_section(parser: argparse.ArgumentParser, level: str) -> Iterator[str]:
    """A command, its options and its actions."""
    yield from (f"{level} {parser.prog}", "")
    if parser.description:
        yield markdown(parser.description)
        yield ""
    actions: list[Any] = []
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            actions += dict.fromkeys(action.choices.values())
        elif not isinstance(action, argparse._HelpAction):
            rows.append(option_row(action))
    if rows:
        yield from ("| argument | default | meaning |", "|---|---|---|")
        yield from rows
        yield ""
    for action in actions:
        yield from command_section(action, f"{level}#")


def option_row(action: argparse.Action) -> str:
    name = action.metavar
    if action.choices is not None:
        name = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        shown = f"`{name}`"
        if action.nargs in ("+", "*"):
            shown = f"`{name} ...`"
        default = "" if action.nargs in ("?", "*") else REQUIRED
    else:
        shown = ", ".join([f"`{option}`" for option in action.option_strings])
        if action.nargs != 0:
            many = " ..." if action.nargs == "+" else ""
            shown += f" `{name or action.dest.upper()}{many}`"
        default = REQUIRED if action.required else ""
        plain = isinstance(action.default, str | int | float)
        if plain and action.default not in (False, "") and action.nargs != 0:
            default = f"`{action.default}`"
    text = (action.help or "") % {"default": action.default}
    return row(shown, default, markdown(sentence(text)))


# Values, defaults, meanings


def values(annotation: Any) -> str:
    """The values of a type in words."""
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Annotated:
        if arguments[0] in (int, float):
            return in_words(annotation)
        return values(arguments[0])
    if origin is Literal:
        return ", ".join([f"`{as_json(value)}`" for value in arguments])
    if origin is Lazy:
        return values(arguments[0])
    if origin in (Union, types.UnionType):
        texts = dict.fromkeys([values(one) for one in arguments])
        texts.pop("", None)
        if "a path" in texts:
            texts.pop("a string", None)
        return " or ".join(texts)
    if origin is dict:
        return f"an object{each(arguments[-1])}"
    if origin in (list, tuple):
        if origin is tuple and arguments[-1] is not ...:
            parts = [values(one) for one in arguments]
            return f"a list of {len(parts)}: {', then '.join(parts)}"
        return f"a list{each(arguments[0])}"
    if annotation is bool:
        return "`true`, `false`"
    if annotation in (None, types.NoneType):
        return "`null`"
    if annotation is os.PathLike:
        return NAMES[Path]
    if annotation in NAMES:
        return NAMES[annotation]
    if inspect.isclass(annotation) and annotation is not Any:
        return class_value(annotation)
    return ""


def each(annotation: Any) -> str:
    text = values(annotation)
    return f", each {text}" if text else ""


def class_value(cls: type) -> str:
    """An object of a class, with a link to those on this page."""
    if cls is ElmoTokenEmbedder:
        return "[an object](#modelelmo)"
    if cls is DataPath:
        return "a path, or a list or an object of paths"
    if cls is Distributed:
        return "[an object](#distributed)"
    if cls is Model:
        return "a [task model](#task-models) or [language model](#language-models)"
    for kind, (title, _) in SECTIONS.items():
        if cls is kind:
            anchor = title.lower().replace(" ", "-")
            return f"[`{cls.__name__}`](#{anchor})"
    if cls in PARTS:
        title, _ = PARTS[cls]
        return f"[{title.lower()}](#{title.lower().replace(' ', '-')})"
    if hasattr(cls, "from_params"):
        return f"AllenNLP's `{cls.__name__}`"
    return ""


def default_of(default: Any, annotation: Any) -> str:
    if default is Parameter.empty:
        return REQUIRED
    if isinstance(default, Lazy):
        return implementation(annotation)
    if default == "":
        return '`""`'
    return f"`{as_json(default)}`"


def implementation(annotation: Any) -> str:
    """The name of the class that AllenNLP constructs by default."""
    name = getattr(annotation, "default_implementation", None)
    if name is not None:
        return f"`{name}`"
    for part in get_args(annotation):
        name = implementation(part)
        if name:
            return name
    return ""


def meanings(cls: type) -> dict[str, str]:
    """What the docstrings of a class and its base classes say of their parameters."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("elmo_tasks."):
            found |= entries(inspect.cleandoc(base.__doc__ or ""))
    return found


def entries(doc: str) -> dict[str, str]:
    found = {}
    for entry in PARAMETERS.finditer(doc):
        for key in re.findall(r"`(\w+)`", entry[1]):
            found[key] = entry[2]
    return found


def summary(documented: Callable[..., Any]) -> str:
    """The first paragraph of a docstring in one line."""
    doc = inspect.cleandoc(documented.__doc__ or "")
    text = " ".join(doc.split("\n\n")[0].split())
    if text.endswith(":"):  # before a formula
        text = text.removesuffix(":") + "."
    return text


def sentence(text: str) -> str:
    """A meaning as it stands in a cell, with a capital letter and a full stop."""
    if not text:
        return ""
    if re.match(r"[a-z]+(?![\w./'-])", text):
        text = text[0].upper() + text[1:]
    return text.removesuffix(".") + "."


def markdown(text: str) -> str:
    """
    A help text, with options and JSON as code and without characters that Markdown reads
    as markup.
    """
    text = re.sub(r"'\{[^']*\}'", r"`\g<0>`", text)
    parts = re.split(r"(`[^`]*`)", text)
    for index in range(0, len(parts), 2):
        plain = re.sub(r"([*<\[])", r"\\\1", parts[index])
        parts[index] = re.sub(r"(?<![\w-])(--[a-z][a-z0-9-]*)", r"`\1`", plain)
    return "".join(parts)


def row(*cells: str) -> str:
    escaped = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"
