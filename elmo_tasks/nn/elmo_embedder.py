"""Character ids -> ELMo vectors (paper, sections 3.2 and 3.3): frozen layers, and a mix of them for each place."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Instance
from allennlp.data.fields import ListField, TextField
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM, BiLMOutput, States
from elmo_tasks.elmo.cache import LayerCache
from elmo_tasks.elmo.embedder_config import REGISTERED_AS, Problem, check_config, config_problems
from elmo_tasks.elmo.scalar_mix import WEIGHTED, ScalarMix
from elmo_tasks.elmo.source_types import BILM, FILE_KEYS, LayerSource
from elmo_tasks.elmo.sources import Source, open_source
from elmo_tasks.elmo.transformer import Transformer
from elmo_tasks.errors import InputError


@TokenEmbedder.register(REGISTERED_AS)
class ElmoTokenEmbedder(TokenEmbedder):
    """
    A frozen biLM, CoVe or transformer, with a scalar mix of its layers for each place where a model uses ELMo vectors.

    Under `model.elmo` the model calls `layers` once and then `input_vectors` and `output_vectors`. As a plain
    `TokenEmbedder` of type `elmo_tasks`, calling it returns the input vectors; `at` other than `input`, and an `l2`,
    are rejected there, since nothing would use the output vectors or add the penalty.

    The biLM's weights are not parameters of the model: they follow it from device to device, but stay in evaluation
    mode, have no gradients, and are in no checkpoint or archive. The state holds both files' absolute paths and
    sha256 instead, and loading it with other files is an error. Relative paths of a loaded archive's config are tried
    from the current folder, then from the folder of the training.

    # Parameters

    - `options_file`, `weight_file`: the biLM in the official format, as path or URL; without both, the embedded one.
      With `source: cove`, `weight_file` is CoVe's, and there are no options. With `source: transformer` both are
      ignored.
    - `at`: `input`, `output` or `both`.
    - `mix`: `weighted`, `last` or `layer:k`; see `ScalarMix`, as for `layer_norm` and `gamma`.
    - `l2`: penalty on the weights of each mix; see `ScalarMix.penalty`.
    - `layer_norm`: `False`, `sentence` or `batch`.
    - `dropout`: probability with which elements of the ELMo vectors are dropped in training, independently for each
      place.
    - `state`: with `reset`, every sentence starts from zero states; with `carry`, each row of a batch from the last
      state of that row of the previous batch. Carried states are in the checkpoints of trainer `elmo_tasks`, but in no
      archive.
    - `precision`: data type of the biLM's matrix products, `float32`, `bfloat16` or `int8`; see `BiLM`. A transformer
      computes in it.
    - `cache_dir`: folder for the layers of each sentence; see `LayerCache`. Written only by a training, which begins
      with the first batch in training mode; evaluation and prediction read it. Not for `state: carry` and `layer_norm:
      batch`, with which a sentence's vectors depend on other sentences.
    - `cache_limit_gb`: maximum size of `cache_dir` in 10^9 bytes. By default nine tenths of the free disk.
    - `archive`: whether the state holds the files of the biLM or transformer themselves, so that archives work without
      them. Every checkpoint grows by their size.
    - `source`: `bilm`, `cove` or `transformer`; see `CoVe` and `Transformer`.
    - `vectors_file`: with `source: cove`, its word vectors, GloVe 840B, as plain text. They are never archived.
    - `model`: with `source: transformer`, a folder in Hugging Face's format, or the name of a model of the hub.
    - `pieces`: with `source: transformer`, the `mean` of the vectors of a word's pieces, or the `first` or `last` one.
    - `local_files_only`: whether a model of the hub must have been downloaded before.
    - `serialization_dir`: passed by AllenNLP, the folder of the run or of the unpacked archive.
    - `config_path`: passed by `from_params`, the dotted path of these keys in the config, for errors.

    Raises `InputError` listing all invalid values, or naming a file that is missing or not a biLM.
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
        cache_limit_gb: float | None = None,
        archive: bool = False,
        source: str = BILM,
        vectors_file: str | Path | None = None,
        model: str | Path | None = None,
        pieces: str = "mean",
        local_files_only: bool = False,
        serialization_dir: str | None = None,
        config_path: str | None = None,
    ) -> None:
        super().__init__()
        given = {"options_file": options_file, "weight_file": weight_file, "vectors_file": vectors_file, "model": model}
        mixing = {"at": at, "mix": mix, "l2": l2, "layer_norm": layer_norm, "gamma": gamma, "dropout": dropout}
        computing: dict[str, Any] = {"state": state, "precision": precision, "pieces": pieces, "archive": archive}
        computing |= {"source": source, "local_files_only": local_files_only}
        cache = {"cache_dir": cache_dir, "cache_limit_gb": cache_limit_gb}
        check_config({**given, **mixing, **computing, **cache})
        files = {key: os.fspath(file) for key, file in given.items() if file is not None}
        names = {key: f"{config_path}.{key}" for key in (*FILE_KEYS, "source") if config_path}
        bilm, opened = open_source(given=files, **computing, run_folder=serialization_dir, names=names)
        object.__setattr__(self, "bilm", bilm)  # not a submodule
        self.at, self.mix, self.l2, self.archive, self.source = at, mix, l2, archive, opened
        self.cache: LayerCache | None = None
        if cache_dir is not None:
            self.cache = LayerCache(cache_dir, opened, limit_gb=cache_limit_gb, read_only=True)
        self.input_mix = self._mix(layer_norm=layer_norm, gamma=gamma) if at != "output" else None
        self.output_mix = self._mix(layer_norm=layer_norm, gamma=gamma) if at != "input" else None
        self.dropout = nn.Dropout(dropout)
        self._carried: States = {}

    @classmethod
    def from_params(cls, params: Params, **extras: Any) -> "ElmoTokenEmbedder":
        """Check the config before AllenNLP converts it; only the registry passes a constructor."""
        if not isinstance(params, Params):
            raise InputError(f"elmo: expected an object, got {params!r}")
        check_config(params.as_dict(quiet=True))
        params.pop("type", None)
        path = params.history.removesuffix(".") or "model.elmo"
        embedder = super().from_params(params=params, **extras, config_path=path)
        if "constructor_to_call" in extras:
            embedder._check_places()
        return embedder

    @classmethod
    def config_problems(cls, config: dict[str, Any]) -> list[Problem]:
        """All invalid values of a config, as far as they can be checked without the files."""
        return config_problems(config)

    @property
    def has_input(self) -> bool:
        """Whether there are vectors for the encoder's input."""
        return self.input_mix is not None

    @property
    def has_output(self) -> bool:
        """Whether there are vectors for the encoder's output."""
        return self.output_mix is not None

    def get_output_dim(self) -> int:
        """Width of an ELMo vector, at either place: 2P with a biLM."""
        return self.bilm.output_dim

    def forward(self, ids: Tensor) -> Tensor:
        """As a plain `TokenEmbedder`, with `at: input`: character ids [B, T, C] -> input vectors [B, T, D]."""
        self._check_places()
        return self.input_vectors(self.layers(ids))

    def layers(self, ids: Tensor) -> BiLMOutput:
        """The frozen layers [L+1, B, T, D] and the mask [B, T] for character ids [B, T, C], also under autocast."""
        if self.cache is not None and self.training:
            self.cache.read_only = False
        with torch.no_grad(), torch.autocast(ids.device.type, enabled=False):
            if isinstance(self.bilm, BiLM) and self.bilm.state == "carry":
                output, self._carried = self.bilm.carry(ids, self._carried)
                return output
            return self.bilm(ids) if self.cache is None else self.cache.layers(self.bilm, ids)

    def input_vectors(self, output: BiLMOutput) -> Tensor:
        """ELMo vectors [B, T, D] for the encoder's input, from the result of `layers`; zero for padding."""
        return self._vectors(self.input_mix, output)

    def output_vectors(self, output: BiLMOutput) -> Tensor:
        """ELMo vectors [B, T, D] for the encoder's output, from the result of `layers`; zero for padding."""
        return self._vectors(self.output_mix, output)

    def penalty(self) -> Tensor:
        """The penalty on the mixes' weights (paper, section 3.3), `l2 * sum w^2` summed over the places; a scalar."""
        return torch.stack([mix.penalty(self.l2) for mix in self._mixes().values()]).sum()

    def describe(self) -> dict[str, float]:
        """
        The learned parameters of the mixes: `elmo_input_s0`, ..., `elmo_input_gamma`, and the same for `output`; of a
        transformer also `elmo_long_texts`, the share of the texts that it read in windows.
        """
        learned: dict[str, float] = {}
        if isinstance(self.bilm, Transformer):
            learned["elmo_long_texts"] = self.bilm.long_texts / max(1, self.bilm.texts)
        for place, mix in self._mixes().items():
            if mix.weights is not None:
                shares = mix.layer_weights().tolist()
                learned.update({f"elmo_{place}_s{layer}": share for layer, share in enumerate(shares)})
            if mix.gamma is not None:
                learned[f"elmo_{place}_gamma"] = mix.gamma.item()
        return learned

    def expect_data(self, instances: Iterable[Instance]) -> None:
        """Called by trainer `elmo_tasks` before the first step: logs what the cache needs."""
        if self.cache is not None:
            fields = (field for instance in instances for field in instance.values())
            parts = (part for field in fields for part in (field if isinstance(field, ListField) else [field]))
            texts = (tuple(token.ensure_text() for token in part) for part in parts if isinstance(part, TextField))
            self.cache.expect(self.bilm, texts)

    def carried_states(self) -> States:
        """The states of `state: carry`; trainer `elmo_tasks` keeps them in its checkpoints."""
        return self._carried

    def set_carried_states(self, states: States) -> None:
        """Restore what `carried_states` returned; `{}` for zeros."""
        self._carried = states

    def get_extra_state(self) -> Tensor:
        """Paths and sha256 of the source's files, and with `archive` their contents, uint8."""
        return self.source.to_state(with_contents=self.archive)

    def set_extra_state(self, state: Tensor) -> None:
        """Raises `InputError` if the state was made with other files."""
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

    def _check_places(self) -> None:
        """Raise `InputError` for what a text field embedder cannot use."""
        for key, expected, value in (("at", "input", self.at), ("l2", None, self.l2 or None)):
            if value != expected:
                problem = f"token embedder {REGISTERED_AS}: {key}: expected {expected or 'null'}, got {value!r}"
                raise InputError(problem, hint="the models of this package take it under model.elmo")
