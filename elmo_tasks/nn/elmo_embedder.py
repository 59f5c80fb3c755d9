"""
Character ids -> ELMo vectors (paper, sections 3.2 and 3.3): frozen layers, and a mix of
them for each place: `input` and `output`, where a task model adds ELMo vectors.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self, cast

import torch
from allennlp.common import Params
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import LayerOutput, States
from elmo_tasks.elmo.cache import CacheSettings
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.files import ModelFiles
from elmo_tasks.elmo.scalar_mix import WEIGHTED_MIX, MixSettings, ScalarMix
from elmo_tasks.elmo.sources.types import LayerSource, SourceSettings
from elmo_tasks.errors import InputError, nearest
from elmo_tasks.settings import (
    Probability,
    Settings,
    Wrong,
    WrongValues,
    annotations,
    checked,
    require_none,
    wrong_in,
)

REGISTERED_AS = "elmo_tasks"


@checked
@dataclass(frozen=True, kw_only=True)
class Places(Settings):
    """Where a model uses ELMo vectors."""

    at: Annotated[
        Literal["input", "output", "both"],
        "where ELMo vectors are added: to the encoder's input, its output, or both"
        " (section 3.3)",
    ] = "input"
    dropout: Annotated[
        Probability,
        "dropout on the elements of the ELMo vectors, drawn separately at each place",
    ] = 0.0


DEFAULT_PLACES = Places()


@checked
@dataclass(frozen=True, kw_only=True)
class ElmoSettings(CacheSettings, MixSettings, Places, SourceSettings):
    """The keys of `model.elmo`."""

    def conflicts(self) -> Iterator[Wrong]:
        yield from super().conflicts()
        for key, value in (("state", "carry"), ("layer_norm", "batch")):
            if self.cache_dir is not None and getattr(self, key) == value:
                because = f"{key} is {value}: vectors then depend on other sentences"
                yield Wrong("cache_dir", f"null where {because}", self.cache_dir)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """
        From the keys of a config. Raises `InputError` that lists all invalid values and
        unknown keys.
        """
        known = annotations(cls)
        problems = []
        for key in given:
            if key not in known:
                expected = f"one of the keys {', '.join(known)}"
                near = nearest(key, known)
                if near is not None:
                    expected = f"a key of ELMo (nearest: {near})"
                problems.append(Wrong(key, expected, key))
        require_none([*problems, *wrong_in(cls, given)], "elmo: ")
        return cls(**given)


@TokenEmbedder.register(REGISTERED_AS)
class ElmoTokenEmbedder(TokenEmbedder):
    """
    ELMo: the layers of a frozen model, and a scalar mix of them for each place where a
    task model uses ELMo vectors.

    Under `model.elmo`, the model calls `layers` once and then `input_vectors` and
    `output_vectors`. As a plain `TokenEmbedder` of type `elmo_tasks`, a call returns
    the input vectors. There, `at` must be `input` and `l2` must be unset, since nothing
    would use the output vectors or add the penalty.

    The source moves between devices with the model, but its weights are not in the
    model's state. `model.json` in the folder of a run and in its archive records the
    sha256 of the source's files, and a trained model does not open with others.
    """

    def __init__(
        self,
        frozen: Layers,
        mix: MixSettings = WEIGHTED_MIX,
        places: Places = DEFAULT_PLACES,
    ) -> None:
        super().__init__()
        self.frozen = frozen
        self.settings = mix
        self.places = places
        self.input_mix: ScalarMix | None = None
        self.output_mix: ScalarMix | None = None
        if places.at != "output":
            self.input_mix = ScalarMix(frozen.n_layers, mix)
        if places.at != "input":
            self.output_mix = ScalarMix(frozen.n_layers, mix)
        self.dropout = nn.Dropout(places.dropout)
        self._states: States = {}  # of `state: carry`

    @classmethod
    def open(
        cls,
        *,
        run_folder: str | None = None,
        config_path: str | None = None,
        **settings: Any,
    ) -> Self:
        """
        Open the source from its files, by default the bundled biLM. `settings` are the
        keys of `model.elmo`, see the reference of configs; `config_path` is the dotted
        path that errors put before them. `run_folder` is the folder of a run or an
        unpacked archive, which may contain a trained model's files.

        Raises `InputError` listing all invalid values, or naming a file that is missing
        or not a biLM.
        """
        where = f"{config_path}." if config_path else ""
        return cls._of(ElmoSettings.read(settings), run_folder, where)

    @classmethod
    def _of(cls, settings: ElmoSettings, run_folder: str | None, where: str) -> Self:
        frozen = Layers.open(
            settings, cache_dir=settings.cache_dir, run_folder=run_folder, where=where
        )
        return cls(frozen, settings, settings)

    @classmethod
    def from_params(cls, params: Params, **extras: Any) -> "ElmoTokenEmbedder":
        """
        Construct from a config, as `open` does. Only AllenNLP's registry passes a
        constructor. `offline` among the extras is as if the config said so.
        """
        if not isinstance(params, Params):
            raise InputError(f"elmo: expected an object, got {params!r}")
        path = params.history.removesuffix(".") or "model.elmo"
        config = dict(params.as_dict(quiet=True))
        params.params.clear()
        kind = config.pop("type", REGISTERED_AS)
        if kind != REGISTERED_AS:
            raise WrongValues([Wrong("type", REGISTERED_AS, kind)], "elmo: ")
        settings = ElmoSettings.read(config)
        if extras.get("offline"):
            settings = replace(settings, offline=True)
        embedder = cls._of(settings, extras.get("serialization_dir"), f"{path}.")
        if "constructor_to_call" in extras:
            embedder._check_places()
        return embedder

    @property
    def source(self) -> LayerSource:
        return self.frozen.source

    @property
    def files(self) -> ModelFiles | None:
        return self.frozen.files

    @property
    def has_input(self) -> bool:
        return self.input_mix is not None

    @property
    def has_output(self) -> bool:
        return self.output_mix is not None

    def get_output_dim(self) -> int:
        """Width of an ELMo vector, at either place: 2P with a biLM."""
        return self.frozen.output_dim

    def forward(self, ids: Tensor) -> Tensor:
        """
        As a plain `TokenEmbedder`, with `at: input`: character ids [B, T, C] -> input
        vectors [B, T, D].
        """
        self._check_places()
        return self.input_vectors(self.layers(ids))

    def layers(self, ids: Tensor) -> LayerOutput:
        """
        The frozen layers [L+1, B, T, D] and the mask [B, T] for character ids [B, T,
        C].
        """
        if self.frozen.state == "carry":
            output, self._states = self.frozen.carry(ids, self._states)
            return output
        return cast(LayerOutput, self.frozen(ids))

    def input_vectors(self, output: LayerOutput) -> Tensor:
        """
        ELMo vectors [B, T, D] for the encoder's input, from the result of `layers`;
        zero for padding.
        """
        return self._vectors(self.input_mix, output)

    def output_vectors(self, output: LayerOutput) -> Tensor:
        """
        ELMo vectors [B, T, D] for the encoder's output, from the result of `layers`;
        zero for padding.
        """
        return self._vectors(self.output_mix, output)

    def penalty(self) -> Tensor:
        """
        The penalty on the mixes' weights (paper, section 3.3), `l2 * sum w^2` summed
        over the places; a scalar.
        """
        return torch.stack([mix.penalty() for _, mix in self.mixes()]).sum()

    def describe(self) -> dict[str, float]:
        """The learned parameters of the mixes, see `mix_parameters`."""
        return {name: value.item() for name, value in self.mix_parameters().items()}

    def mix_parameters(self) -> dict[str, Tensor]:
        """
        Copies of the mixes' learned parameters, scalars: `elmo_input_s0`, ..., the
        layer weights after the softmax, and `elmo_input_gamma`; the same for `output`.
        """
        learned: dict[str, Tensor] = {}
        for place, mix in self.mixes():
            if mix.weights is not None:
                for layer, weight in enumerate(mix.layer_weights()):
                    learned[f"elmo_{place}_s{layer}"] = weight
            if mix.gamma is not None:
                learned[f"elmo_{place}_gamma"] = mix.gamma.detach().clone()
        return learned

    def carried_states(self) -> States:
        """
        The states of `state: carry`; trainer `elmo_tasks` keeps them in its
        checkpoints.
        """
        return self._states

    def set_carried_states(self, states: States) -> None:
        """Restore what `carried_states` returned; `{}` for zeros."""
        self._states = states

    def mixes(self) -> Iterator[tuple[str, ScalarMix]]:
        """The mix of each place."""
        for place, mix in (("input", self.input_mix), ("output", self.output_mix)):
            if mix is not None:
                yield place, mix

    def _vectors(self, mix: ScalarMix | None, output: LayerOutput) -> Tensor:
        if mix is None:
            raise ValueError(
                f"there are no vectors for this place: at is {self.places.at!r}"
            )
        return self.dropout(mix(output.layers, output.mask))  # [B, T, D]

    def _check_places(self) -> None:
        for key, expected, value in (
            ("at", "input", self.places.at),
            ("l2", None, self.settings.l2 or None),
        ):
            if value != expected:
                problem = f"token embedder {REGISTERED_AS}: {key}: expected {expected or 'null'}, got {value!r}"
                raise InputError(
                    problem,
                    hint="models of this package have this key under model.elmo",
                )
