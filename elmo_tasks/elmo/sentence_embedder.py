"""
Sentences -> ELMo vectors: `Elmo`, which `elmo-tasks elmo` and the adapters for other
libraries use.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.batching import BatchSizes, Sentence, embed_into
from elmo_tasks.elmo.cache import CacheSettings
from elmo_tasks.elmo.hdf5_writer import Lines, write_vectors
from elmo_tasks.elmo.layer_choice import LayerChoice, LayerChoices
from elmo_tasks.elmo.layers import NO_CACHE, Layers
from elmo_tasks.elmo.pooling import pooled, require_pooling
from elmo_tasks.elmo.progress import progress_bar
from elmo_tasks.elmo.sentences import (
    Sentences,
    Splitter,
    checked_sentences,
    until_the_end,
    words_of,
)
from elmo_tasks.elmo.source_types import BILM, SourceSettings
from elmo_tasks.elmo.sources import copy_files, settings_of
from elmo_tasks.elmo.static import mean_vectors
from elmo_tasks.elmo.transformer import Transformer
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write_folder
from elmo_tasks.formats.raw_text import WHITESPACE, Tokenizer
from elmo_tasks.run_names import OPTIONS_FILE, WEIGHT_FILE


class Elmo:
    """
    The frozen layers of a biLM or another source for any number of sentences. A pickle
    opens the files of a biLM again.

    # Parameters

    - `layers`: with state `reset`; trained mixes and `write` need to know their files.
    - `tokenizer`: how texts are split into words, see `Tokenizer`; methods take another
      one. By default texts have white space between words and punctuation; raw text is
      reported once.
    - `sizes`: `max_length`, `overlap`, `batch_size` and `max_tokens` of `BatchSizes`.
    """

    def __init__(
        self, layers: Layers, *, tokenizer: Tokenizer = WHITESPACE, **sizes: int
    ) -> None:
        self.layers = layers
        if isinstance(layers.source, BiLM):
            layers.source.cache_word_vectors()
        self.sizes = BatchSizes(**sizes)
        self.tokenizer = tokenizer
        self._splitter = Splitter(tokenizer)
        self._choices = LayerChoices(layers)
        self.vector_model("all")  # raises an error for layers with another state

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path | None = None,
        options_file: str | Path | None = None,
        *,
        precision: str = "float32",
        **settings: Any,
    ) -> "Elmo":
        """
        Open the embedded biLM, or a whole model: a name that `elmo-tasks models` lists,
        a folder, a ZIP of the NLPL repository, their URL (`https://...zip#sha256=HEX`
        checks the digest), `hf://owner/name`; or the weights of a biLM with its
        options. The other arguments and the errors are those of `from_files`.
        """
        chosen = {} if model is None else settings_of(model)
        chosen["options_file"] = options_file
        chosen["precision"] = precision
        return cls._open(SourceSettings.of(chosen), **settings)

    @classmethod
    def from_files(
        cls,
        options_file: str | Path | None = None,
        weight_file: str | Path | None = None,
        *,
        precision: str = "float32",
        **settings: Any,
    ) -> "Elmo":
        """
        Open a biLM from its official files, paths or URLs; without both, the embedded
        one; a whole model, as for `from_pretrained`, is the `weight_file` alone. Raises
        `InputError` naming the file and all that is wrong with it.

        # Parameters

        - `precision`: that of `BiLM`.
        - `device`: `cpu`, `cuda:0`.
        - `cache_dir`: folder of a `LayerCache`, which rounds layers to float16.
        - `cache_limit_gb`: its maximal size in 10^9 bytes; `None`: what is there and
          nine tenths of the free disk.
        - `settings`: `tokenizer` and the sizes of `Elmo`.
        """
        chosen = {
            "options_file": options_file,
            "weight_file": weight_file,
            "precision": precision,
        }
        return cls._open(SourceSettings.of(chosen), **settings)

    @classmethod
    def _open(
        cls,
        chosen: SourceSettings,
        *,
        device: str | int = "cpu",
        cache_dir: str | Path | None = None,
        cache_limit_gb: float | None = None,
        **settings: Any,
    ) -> "Elmo":
        _require_device(device)
        cache = CacheSettings(cache_dir=cache_dir, cache_limit_gb=cache_limit_gb)
        return cls(Layers.open(chosen, cache=cache).to(device), **settings)

    def save(self, folder: str | Path) -> None:
        """
        Write the model's files to a folder that `from_pretrained` reads; of an opened
        model, the same bytes. Raises `InputError` if it cannot be written.
        """
        source = self.layers.source
        with atomic_write_folder(Path(folder)) as aside:
            if self.layers.files is None and isinstance(source, BiLM):
                source.save_files(aside / OPTIONS_FILE, aside / WEIGHT_FILE)
            else:
                copy_files(self.layers.opened_files(), aside)

    def embed(
        self,
        sentences: Sentences,
        *,
        layers: LayerChoice = "all",
        tensors: bool = False,
        progress: bool = False,
        tokenizer: Tokenizer | None = None,
    ) -> list[Any]:
        """
        The vectors of N sentences, lists of words or texts: N arrays, with `tensors` N
        tensors, float32, [L+1, T, 2P] for all layers, otherwise [T, 2P]. For `layers`
        see `LayerChoice`. `tokenizer` splits texts, by default that of the constructor.
        `progress` shows a bar, which needs the package tqdm.

        What seems to be a list of the words of one sentence is reported once. Raises
        `InputError` if a value is invalid, not finite, or memory runs out.
        """
        model = self.vector_model(layers)
        given = checked_sentences(sentences)
        self._splitter.warn_of_words(given)
        words = self._splitter.words_of_each(given, tokenizer)
        arrays = [np.empty(model.shape(len(one)), np.float32) for one in words]
        named = []
        for number, one in enumerate(words, start=1):
            named.append(Sentence("", one, f"line {number}"))
        with progress_bar(sum(map(len, words)), visible=progress) as bar:
            embed_into(arrays, model, self.sizes, named, bar.update)
        if tensors:
            return [torch.from_numpy(array) for array in arrays]
        return arrays

    def embed_sentences(
        self,
        sentences: Sentences,
        *,
        pooling: str = "mean",
        layers: LayerChoice = "average",
        tensors: bool = False,
        **options: Any,
    ) -> Any:
        """
        A vector for each sentence, float32 [N, 2P], or [N, L+1, 2P] for all layers;
        zero for an empty sentence. `pooling` over the tokens is `mean`, `max`, `first`
        or `last`; for the rest see `embed`.
        """
        require_pooling(pooling)
        arrays = self.embed(sentences, layers=layers, **options)
        of_one = self.vector_model(layers).shape(1)
        shape = of_one[:-2] + of_one[-1:]  # without the axis of tokens
        vectors = pooled(arrays, pooling, shape)
        return torch.from_numpy(vectors) if tensors else vectors

    def words(
        self, texts: Iterable[str], *, tokenizer: Tokenizer | None = None
    ) -> list[list[str]]:
        """The words of each text, as `embed` splits it."""
        return self._splitter.words_of_each(list(texts), tokenizer)

    def mean_vectors(
        self,
        sentences: Sentences,
        words: Sequence[str],
        *,
        layers: LayerChoice = "average",
        tokenizer: Tokenizer | None = None,
        **options: Any,
    ) -> np.ndarray:
        """
        The mean of the vectors of each word's occurrences, float32 [V, D]; see
        `static.mean_vectors`.
        """
        split, _ = self._splitter.opened(tokenizer)
        lists = (words_of(one, split) for one in sentences)
        model = self.vector_model(layers)
        return mean_vectors(model, self.sizes, lists, words, **options)

    def embed_batch(
        self,
        batch: Mapping[str, Sequence[Any]],
        *,
        column: str = "tokens",
        layers: LayerChoice = "average",
        tokenizer: Tokenizer | None = None,
    ) -> dict[str, list[np.ndarray]]:
        """
        For `map(elmo.embed_batch, batched=True)` of Hugging Face datasets: the column
        `elmo` with the vectors of the sentences in `column`. The pickle holds the
        files' sha256, so that the fingerprints identify the biLM.
        """
        if column not in batch:
            raise InputError(
                f"column: expected one of {', '.join(batch)}, got {column!r}"
            )
        return {"elmo": self.embed(batch[column], layers=layers, tokenizer=tokenizer)}

    def write(
        self,
        lines: Lines,
        out: str | Path,
        *,
        layers: LayerChoice = "all",
        stored: str = "float32",
        tokenizer: Tokenizer | None = None,
        settings: Mapping[str, Any],
        **options: Any,
    ) -> None:
        """
        Write the vectors of lines to an HDF5 file; see `write_vectors` and, for
        `stored`, `VectorModel`. The name of the tokenizer is recorded as `tokenizer`,
        unless `settings` has another.
        """
        split, name = self._splitter.opened(tokenizer)
        write_vectors(
            self.vector_model(layers, stored=stored),
            until_the_end(lines, split),
            out,
            sizes=self.sizes,
            parse=split,
            settings={**self.provenance(), "tokenizer": name, **settings},
            **options,
        )

    def provenance(self) -> dict[str, Any]:
        """The files of the source and its options, as files of vectors record them."""
        files = self.layers.opened_files()
        source = self.layers.source
        found: dict[str, Any] = {
            "options_sha256": files.options_file.sha256,
            "weights_sha256": files.weight_file.sha256,
            "options_file": files.options_file.public,
            "weight_file": files.weight_file.public,
        }
        if isinstance(source, BiLM):
            found["options"] = json.dumps(source.options.to_dict())
        if isinstance(source, Transformer):
            found["options"] = source.model.config.to_json_string()
            found["word_pieces"] = source.pieces
        return found

    def vector_model(self, layers: LayerChoice, **options: Any) -> VectorModel:
        """
        The source with a choice of its layers; `options` are others of `VectorModel`.
        """
        return self._choices.model(layers, **options)

    def __repr__(self) -> str:
        layers = self.layers
        parts = [
            f"{layers.n_layers} layers of {layers.output_dim}",
            layers.precision,
            str(layers.device),
        ]
        if layers.files is not None:
            parts.insert(0, f"{layers.label} {layers.name}")
        return f"Elmo({', '.join(parts)})"

    def __reduce__(self) -> Any:
        settings: dict[str, Any] = {"tokenizer": self.tokenizer, **asdict(self.sizes)}
        files = self.layers.files
        if files is None or files.name != BILM:
            return partial(type(self), **settings), (self.layers,)
        cache = self.layers.cache
        settings |= asdict(NO_CACHE if cache is None else cache.settings)
        settings["device"] = str(self.layers.device)
        settings["precision"] = self.layers.precision
        opened = [
            (file.path, file.sha256) for file in (files.options_file, files.weight_file)
        ]
        return _reopen, (type(self), opened, settings)


def _require_device(device: str | int) -> None:
    """Raises `InputError` if there is no such device."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):  # of a name, and of one that is not there
        problem = "device: expected one of this machine, such as cpu or cuda:0"
        raise InputError(f"{problem}, got {device!r}") from None


def _reopen(
    kind: type[Elmo], files: list[tuple[str, str]], settings: dict[str, Any]
) -> Elmo:
    """
    What a pickle calls: opens files, given with their sha256. Raises `InputError` if
    one has changed.
    """
    elmo = kind.from_files(*[path for path, _ in files], **settings)
    opened = elmo.layers.opened_files()
    found = (opened.options_file, opened.weight_file)
    for file, (path, sha256) in zip(found, files, strict=True):
        if file.sha256 != sha256:
            problem = "the file has changed since the pickle was written"
            raise InputError(f"{problem}, then sha256 {sha256}", file=path)
    return elmo
