"""Character ids -> ELMo vectors (paper, sections 3.2 and 3.3): frozen layers, and a mix of them for each place."""

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLMOutput
from elmo_tasks.bilm.lstm import State
from elmo_tasks.elmo.cache import DEFAULT_LIMIT_GB, LayerCache
from elmo_tasks.elmo.embedder_config import (
    BILM,
    COVE,
    REGISTERED_AS,
    Fault,
    refuse,
    validate_config,
    validate_mixing,
    validate_source,
)
from elmo_tasks.elmo.scalar_mix import WEIGHTED, ScalarMix
from elmo_tasks.elmo.sources import CONFIG_PATH, LayerSource, Source, open_bilm, open_cove
from elmo_tasks.errors import InputError

_GIVEN = ("serialization_dir", "config_path")
"""Arguments that are no keys of a config."""


@TokenEmbedder.register(REGISTERED_AS)
class ElmoTokenEmbedder(TokenEmbedder):
    """
    A frozen biLM, or CoVe, with one mix of its layers for each place where a model takes ELMo vectors.

    Under `model.elmo` the model calls `layers` once and then `input_vectors` and `output_vectors`. As a plain
    `TokenEmbedder` of type `elmo_tasks`, calling it gives the input vectors; `at` other than `input`, and an `l2`,
    are refused there, since nobody would read the output vectors or add the penalty.

    The biLM's weights are no parameters of the model: they follow it from device to device, but stay in evaluation
    mode, have no gradients, and are in no checkpoint or archive. The state holds both files' absolute paths and
    sha256 instead, and loading it with other files is an error. Relative paths of a loaded archive's config are tried
    from the current folder and, where the file is not there or another one, from the folder of the training.

    # Parameters

    options_file, weight_file : `str`
        The biLM in the official format, as path or URL. With `source: cove`, `weight_file` is CoVe's, and there are
        no options.
    at : `str`
        `input`, `output` or `both`.
    mix : `str`
        `weighted`, `last` or `layer:k`; see `ScalarMix`, as for `layer_norm` and `gamma`.
    l2 : `float`, optional
        Penalty on the weights of each mix; see `ScalarMix.penalty`.
    layer_norm : `False` or `str`
        `False`, `sentence` or `batch`.
    gamma : `bool`
    dropout : `float`
        Share of the elements of the ELMo vectors that is dropped while training, a mask of its own for each place.
    state : `str`
        `reset`: a sentence has the same vectors whatever came before. `carry`: as upstream, each row of a batch
        starts where that row of the batch before ended, from validation into training and on; what is carried is in
        the checkpoints of trainer `elmo_tasks`, in no archive, and `reset_states` forgets it.
    precision : `str`
        Type of the biLM's matrix products, `float32` or `bfloat16`; see `BiLM`. The mixes stay in float32.
    cache_dir : `str`, optional
        Folder where the layers of each sentence are kept, so that the biLM computes them once for all epochs, runs
        and models; relative paths start from the current folder. Layers are then rounded to float16, whether read or
        computed; see `LayerCache`. Not for `state: carry` and `layer_norm: batch`, where a sentence's vectors depend
        on other sentences.
    cache_limit_gb : `float`
        How far `cache_dir` may grow, in 10^9 bytes; beyond, nothing more is written.
    archive : `bool`
        Whether the state holds the biLM's files themselves, so that archives work where the files are not. Every
        checkpoint grows by their size.
    source : `str`
        Where the layers come from: `bilm`, or `cove`, McCann et al.'s encoder over word vectors; see `CoVe`.
    vectors_file : `str`, optional
        With `source: cove` alone: the word vectors that it reads, GloVe 840B, as plain text. They are never archived.
    serialization_dir : `str`, optional
        Given by AllenNLP: the folder of the run or of the unpacked archive.
    config_path : `str`
        Given by `from_params`: the dotted path of these keys in the whole config, for the messages.

    # Raises

    `InputError` listing all values that are none of these, or naming a file that is missing or not a biLM.
    """

    bilm: LayerSource

    def __init__(
        self,
        *,
        options_file: str | Path | None = None,
        weight_file: str | Path | None = None,
        at: str = "input",
        mix: str = WEIGHTED,
        l2: float | None = None,
        layer_norm: bool | str = False,
        gamma: bool = True,
        dropout: float = 0.0,
        state: str = "reset",
        precision: str = "float32",
        cache_dir: str | Path | None = None,
        cache_limit_gb: float = DEFAULT_LIMIT_GB,
        archive: bool = False,
        source: str = BILM,
        vectors_file: str | Path | None = None,
        serialization_dir: str | None = None,
        config_path: str = CONFIG_PATH,
    ) -> None:
        super().__init__()
        mixing = {"at": at, "mix": mix, "l2": l2, "layer_norm": layer_norm, "gamma": gamma, "dropout": dropout}
        refuse(validate_mixing(**mixing, state=state, cache_dir=cache_dir, cache_limit_gb=cache_limit_gb))
        files = {"options_file": options_file, "weight_file": weight_file, "vectors_file": vectors_file}
        refuse(validate_source(source, files, archive=archive, state=state, precision=precision))
        paths = {key: os.fspath(file) for key, file in files.items() if file is not None}
        computing = {"state": state, "precision": precision}
        origin = {"run_folder": serialization_dir, "config_path": config_path}
        bilm, opened = _open(source, paths, computing, archive=archive, **origin)
        object.__setattr__(self, "bilm", bilm)  # so that the module does not count it among its parts
        self.at, self.mix, self.l2, self.archive, self.source = at, mix, l2, archive, opened
        self.cache = LayerCache(cache_dir, opened, limit_gb=cache_limit_gb) if cache_dir is not None else None
        self.input_mix = self._mix(layer_norm=layer_norm, gamma=gamma) if at != "output" else None
        self.output_mix = self._mix(layer_norm=layer_norm, gamma=gamma) if at != "input" else None
        self.dropout = nn.Dropout(dropout)

    @classmethod
    def from_params(cls, params: Params, **extras: Any) -> "ElmoTokenEmbedder":
        """Checks the config before AllenNLP converts it; the registry alone brings a constructor along."""
        if not isinstance(params, Params):
            raise InputError(f"elmo: expected an object, got {params!r}")
        config = params.as_dict(quiet=True)
        known = [key for key in inspect.signature(cls).parameters if key not in _GIVEN]
        refuse(cls.config_problems(config), unknown=config.keys() - {*known, "type"}, known=known)
        if "type" in params:
            params.pop("type")
        path = params.history.removesuffix(".") or CONFIG_PATH
        embedder = super().from_params(params=params, **extras, config_path=path)
        if "constructor_to_call" in extras:
            embedder._refuse_places()
        return embedder

    @classmethod
    def config_problems(cls, config: dict[str, Any]) -> Iterator[Fault]:
        """All that is wrong with the values of a config, as far as can be told without the files."""
        defaults = {key: parameter.default for key, parameter in inspect.signature(cls).parameters.items()}
        return validate_config(config, defaults)

    @property
    def has_input(self) -> bool:
        """Whether there are vectors for the encoder's input."""
        return self.input_mix is not None

    @property
    def has_output(self) -> bool:
        """Whether there are vectors for the encoder's output."""
        return self.output_mix is not None

    def get_output_dim(self) -> int:
        """Width of an ELMo vector: 2P, at either place."""
        return self.bilm.output_dim

    def forward(self, ids: Tensor) -> Tensor:
        """
        As a plain `TokenEmbedder`: character ids [B, T, 50] -> input vectors [B, T, D].

        # Raises

        `InputError` for `at` other than `input`, or an `l2`.
        """
        self._refuse_places()
        return self.input_vectors(self.layers(ids))

    def layers(self, ids: Tensor) -> BiLMOutput:
        """The frozen layers [L+1, B, T, D] and the mask [B, T] for character ids [B, T, 50], whatever autocast says."""
        with torch.no_grad(), torch.autocast(ids.device.type, enabled=False):
            return self.bilm(ids) if self.cache is None else self.cache.layers(self.bilm, ids)

    def input_vectors(self, output: BiLMOutput) -> Tensor:
        """ELMo vectors [B, T, D] for the encoder's input, from what `layers` gave; zero where there is no token."""
        return self._vectors(self.input_mix, output)

    def output_vectors(self, output: BiLMOutput) -> Tensor:
        """ELMo vectors [B, T, D] for the encoder's output, from what `layers` gave; zero where there is no token."""
        return self._vectors(self.output_mix, output)

    def penalty(self) -> Tensor:
        """What the mixes add to the loss (paper, section 3.3): `l2 * sum w^2`, summed over the places; a scalar."""
        return torch.stack([mix.penalty(self.l2) for mix in self._mixes().values()]).sum()

    def describe(self) -> dict[str, float]:
        """What the mixes have learned, by name: `elmo_input_s0`, ..., `elmo_input_gamma`, and the same for `output`."""
        learned: dict[str, float] = {}
        for place, mix in self._mixes().items():
            if mix.weights is not None:
                shares = mix.layer_weights().tolist()
                learned.update({f"elmo_{place}_s{layer}": share for layer, share in enumerate(shares)})
            if mix.gamma is not None:
                learned[f"elmo_{place}_gamma"] = mix.gamma.item()
        return learned

    def reset_states(self) -> None:
        """Forget what `state: carry` has carried so far."""
        self.bilm.reset_states()

    def carried_states(self) -> dict[str, list[State]]:
        """What `state: carry` has carried so far; trainer `elmo_tasks` keeps it in its checkpoints."""
        return self.bilm.carried_states()

    def set_carried_states(self, states: dict[str, list[State]]) -> None:
        """Go on with what `carried_states` gave."""
        self.bilm.set_carried_states(states)

    def get_extra_state(self) -> Tensor:
        """What the state dictionary holds of the biLM: paths and sha256, and with `archive` the files; uint8."""
        return self.source.to_state(with_contents=self.archive)

    def set_extra_state(self, state: Tensor) -> None:
        """
        # Raises

        `InputError` where the state was made with other files.
        """
        self.source.require_same(Source.from_state(state))

    def _apply(self, *arguments: Any, **options: Any) -> "ElmoTokenEmbedder":
        self.bilm._apply(*arguments, **options)
        return super()._apply(*arguments, **options)

    def _mix(self, *, layer_norm: bool | str, gamma: bool) -> ScalarMix:
        return ScalarMix(self.bilm.n_layers, mix=self.mix, gamma=gamma, layer_norm=layer_norm)

    def _mixes(self) -> dict[str, ScalarMix]:
        mixes = {"input": self.input_mix, "output": self.output_mix}
        return {place: mix for place, mix in mixes.items() if mix is not None}

    def _vectors(self, mix: ScalarMix | None, output: BiLMOutput) -> Tensor:
        if mix is None:
            raise ValueError(f"there are no vectors for this place: at is {self.at!r}")
        return self.dropout(mix(output.layers, output.mask))  # [B, T, D]

    def _refuse_places(self) -> None:
        """A text field embedder has no place behind the encoder, and no loss."""
        if self.at != "input":
            raise InputError(
                f"a token embedder of type {REGISTERED_AS} takes at: input alone, found {self.at!r}",
                hint="the models of this package take the other places under model.elmo",
            )
        if self.l2:
            raise InputError(
                f"a token embedder of type {REGISTERED_AS} takes no l2, since nothing adds it to the loss",
                hint="set l2 to null, or use a model of this package with model.elmo",
            )


def _open(
    source: str, files: dict[str, str], computing: dict[str, str], *, archive: bool, **origin: Any
) -> tuple[LayerSource, Source]:
    if source == COVE:
        return open_cove(**files, **origin)
    return open_bilm(**files, **computing, keep_contents=archive, **origin)
