"""
The ranges of numbers in the constructors of AllenNLP, whose annotations state none.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from typing import Annotated, Any, Literal, Optional, Union

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams, Registrable
from allennlp.data import (
    BatchSampler,
    DataLoader,
    DatasetReader,
    TokenIndexer,
    Vocabulary,
)
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.evaluation import Evaluator
from allennlp.modules import FeedForward, TokenEmbedder
from allennlp.modules.seq2vec_encoders import CnnEncoder
from allennlp.nn import Initializer
from allennlp.nn.regularizers import Regularizer
from allennlp.training import Checkpointer, Trainer
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.momentum_schedulers import MomentumScheduler
from allennlp.training.moving_average import MovingAverage
from allennlp.training.optimizers import Optimizer

from elmo_tasks.settings import (
    Count,
    Depth,
    Device,
    Factor,
    Number,
    Padding,
    Positive,
    Probability,
    Range,
    Rule,
    Share,
    Size,
    Width,
    Wrong,
    has_range,
    wrong_values,
)
from elmo_tasks.training.checks.files import DATA_PATHS
from elmo_tasks.training.nested import items
from elmo_tasks.training.optimization import ReduceOnPlateau, ResumableMovingAverage
from elmo_tasks.training.subsampling import ShareDataLoader
from elmo_tasks.training.trainer import ResumableTrainer

NUMBERS = (int, float, Optional[int], Optional[float])

SOURCES = ("allennlp", "elmo_tasks")
"""
The packages whose constructors have these arguments; those of others may use the same
names otherwise.
"""


def own_ranges(constructor: Callable[..., Any]) -> dict[str, Any]:
    """
    The annotations with a range of one of our constructors, for AllenNLP's of the same
    arguments.
    """
    found = {}
    for parameter in inspect.signature(constructor).parameters.values():
        if has_range(parameter.annotation):
            found[parameter.name] = parameter.annotation
    return found


_BETAS = tuple[Probability, Probability]

OPTIMIZER: dict[str, Any] = {
    "lr": Factor,
    "betas": _BETAS,
    "eps": Union[Factor, tuple[Factor, Factor]],
    "weight_decay": Factor,
    "momentum": Factor,
    "dampening": Number,
    "rho": Share,
    "alpha": Factor,
    "lambd": Factor,
    "t0": Factor,
    "lr_decay": Factor,
    "initial_accumulator_value": Factor,
    "clip_threshold": Positive,
    "decay_rate": Number,
    "beta1": Probability,
}


def group_problems(groups: Any) -> list[Wrong]:
    """
    The numbers out of range among the options of an optimizer's `parameter_groups`.
    """
    found = []
    for index, (_, options) in enumerate(groups):
        for key, value in options.items():
            annotation = OPTIMIZER.get(key, Any)
            found += wrong_values(f"{index}.1.{key}", annotation, value)
    return found


def data_path_problems(value: Any) -> str | list[Wrong] | None:
    """
    What is expected if a value is not a path, or a list or an object of paths. Numbers
    in an object are valid, since a user's reader may take options along with its paths.
    """
    if isinstance(value, str) and value:
        return None
    if not isinstance(value, dict | list) or not value:
        return "a path"
    found = []
    for key, part in items(value):
        if isinstance(value, dict) and isinstance(part, bool | int | float):
            continue
        below = data_path_problems(part)
        if isinstance(below, str):
            found.append(Wrong(str(key), below, part))
        elif below is not None:
            found += [one._replace(key=f"{key}.{one.key}") for one in below]
    return found


_GROUPS = Annotated[list[tuple[list[str], dict[str, Any]]], group_problems]

MODULES: dict[str, Any] = {
    "dropout": Share,
    "dropout_prob": Share,
    "recurrent_dropout_probability": Share,
    "layer_dropout_probability": Share,
    "input_size": Width,
    "input_dim": Width,
    "hidden_size": Width,
    "hidden_dim": Width,
    "embedding_dim": Width,
    "projection_dim": Width,
    "output_dim": Width,
    "feedforward_hidden_dim": Width,
    "num_filters": Width,
    "num_layers": Depth,
    "num_highway": Depth,
    "num_attention_heads": Size,
    "positional_embedding_size": Size,
    "max_length": Size,
}
"""Arguments that are one number and mean the same in all modules."""

RANGES: dict[type, dict[str, Any]] = {
    FeedForward: {
        "hidden_dims": Union[Width, list[Width]],
        "dropout": Union[Share, list[Share]],
    },
    TokenEmbedder: {
        "num_embeddings": Size,
        "padding_index": Count,
        "max_norm": Positive,
        "norm_type": Positive,
        "scalar_mix_parameters": list[Number],
    },
    Initializer: {
        "val": Number,
        "mean": Number,
        "std": Factor,
        "a": Number,
        "b": Number,
        "gain": Number,
        "sparsity": Share,
        "split_sizes": list[Size],
    },
    Regularizer: {"alpha": Factor},
    CnnEncoder: {"ngram_filter_sizes": list[Width]},
    # Data
    DatasetReader: {"max_instances": Size, "max_sequence_length": Size},
    TokenIndexer: {"token_min_padding_length": Padding, "min_padding_length": Padding},
    Vocabulary: {
        "min_count": dict[str, Size],
        "max_vocab_size": Union[Size, dict[str, Size]],
        "min_pretrained_embeddings": dict[str, Count],
    },
    DataLoader: {
        **own_ranges(ShareDataLoader.__init__),
        "start_method": Literal["fork", "spawn", "forkserver"],
        "cuda_device": Union[Device, str, None],
    },
    BatchSampler: {"batch_size": Size, "max_tokens": Size, "padding_noise": Factor},
    # Training
    TrainModel: dict.fromkeys(DATA_PATHS, Annotated[Any, data_path_problems]),
    Trainer: {
        **own_ranges(ResumableTrainer.__init__),
        "local_rank": Count,
        "world_size": Size,
    },
    Checkpointer: {
        "save_every_num_seconds": Positive,
        "save_every_num_batches": Size,
        "keep_most_recent_by_count": Size,
        "keep_most_recent_by_age": Count,
    },
    Optimizer: {**OPTIMIZER, "parameter_groups": _GROUPS},
    LearningRateScheduler: {
        **own_ranges(ReduceOnPlateau.__init__),
        "factor": Positive,  # of `noam`; that of `reduce_on_plateau` is its own
        "gamma": Factor,
        "step_size": Size,
        "milestones": list[Size],
        "num_epochs": Size,
        "num_steps_per_epoch": Size,
        "num_training_steps": Size,
        "num_warmup_steps": Count,
        "warmup_steps": Count,
        "model_size": Width,
        "num_cycles": Positive,
        "t_initial": Size,
        "t_mul": Positive,
        "eta_min": Factor,
        "eta_mul": Positive,
        "cut_frac": Share,
        "ratio": Size,
        "decay_factor": Factor,
        "last_epoch": Annotated[int, Range(at_least=-1)],
    },
    MomentumScheduler: {
        "cool_down": Count,
        "warm_up": Count,
        "ratio": Size,
        "last_epoch": Annotated[int, Range(at_least=-1)],
    },
    MovingAverage: own_ranges(ResumableMovingAverage.__init__),
    TrainerCallback: {
        "summary_interval": Size,
        "distribution_interval": Size,
        "batch_size_interval": Size,
        "validation_start": Count,
        "validation_interval": Size,
    },
    Evaluator: {"cuda_device": Device},
}
"""The arguments of a class, and of those that inherit from it."""


def batches_of(values: Mapping[str, Any]) -> Iterator[Wrong]:
    """
    The rule of AllenNLP's data loader: batches are made by a sampler, or have a size.
    """
    size, sampler = values.get("batch_size"), values.get("batch_sampler")
    most = values.get("max_instances_in_memory")
    if sampler is None and size is None:
        yield Wrong("batch_size", "an integer of at least 1, or a batch_sampler", size)
    for key in ("batch_size", "drop_last", "shuffle"):
        if sampler is not None and values.get(key):
            yield Wrong(key, "none with a batch_sampler", values[key])
    if size is not None and most is not None and most < size:
        yield Wrong("max_instances_in_memory", f"at least batch_size, {size}", most)


RULES: dict[type, Rule] = {MultiProcessDataLoader: batches_of}
"""
What does not go together in constructors of AllenNLP, and of classes that inherit from
them.
"""


def package_of(constructor: Any) -> str:
    """The package that defines a constructor."""
    return str(getattr(constructor, "__module__", None)).partition(".")[0]


def with_ranges(
    cls: type, constructor: Any, parameters: Mapping[str, Parameter]
) -> dict[str, Parameter]:
    """
    The arguments of a constructor, those of AllenNLP with their range in place of the
    annotation.
    """
    if package_of(constructor) not in SOURCES or not issubclass(
        cls, FromParams | Registrable
    ):
        return dict(parameters)
    known: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        known |= RANGES.get(base, {})
    found = {}
    for name, parameter in parameters.items():
        annotation = known.get(name)
        if parameter.annotation in NUMBERS and annotation is None:
            annotation = MODULES.get(name)
        if annotation is not None and not has_range(parameter.annotation):
            parameter = parameter.replace(annotation=annotation)
        found[name] = parameter
    return found
