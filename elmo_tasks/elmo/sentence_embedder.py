"""
Sentences -> ELMo vectors: `Elmo`, which `elmo-tasks elmo` and the adapters for other
libraries use.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy as np
import torch
from pydantic import SkipValidation
from torch import Tensor

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.characters import checked_ids
from elmo_tasks.elmo.batching import arrays_of, named, progress_bar, stream_of_arrays
from elmo_tasks.elmo.devices import AUTO, opened_device
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.card import CardSettings
from elmo_tasks.elmo.models.files import is_remote
from elmo_tasks.elmo.models.saving import save_model
from elmo_tasks.elmo.pooling import pooled
from elmo_tasks.elmo.sentences import Sentences, Splitter, numbered, word_list
from elmo_tasks.elmo.sources.transformer import Transformer
from elmo_tasks.elmo.sources.types import BILM, FILE_KEYS, SourceSettings
from elmo_tasks.elmo.vector_model import LayerChoice, LayerChoices, Stored, VectorModel
from elmo_tasks.elmo.vectors.hdf5_writer import Lines, write_vectors
from elmo_tasks.elmo.vectors.static import mean_vectors, no_progress
from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.bilm_files import Format
from elmo_tasks.formats.fetching.published import BUNDLED
from elmo_tasks.formats.text.raw_text import BASIC, Tokenizer
from elmo_tasks.option_values import BatchSizes, Pooling
from elmo_tasks.settings import Count, PathLike, Size, checked
from elmo_tasks.system.files import file_sha256


class ElmoOutput(NamedTuple):
    """The vectors of a batch, and which of them are those of words."""

    vectors: Tensor  # [L+1, B, T, D], or [B, T, D] of one layer or a mix
    mask: Tensor  # bool, [B, T], True for words


class Elmo:
    """
    Vectors of sentences, from the frozen layers of a biLM or another source. Unpickling
    opens the biLM's files again.

    >>> elmo = Elmo.from_pretrained()
    >>> vectors = elmo.embed("They watched the play.")
    >>> vectors.shape  # [L+1, T, 2P]: three layers, five words
    (3, 5, 320)

    # Parameters

    - `layers`: the source, with state `reset`. For trained mixes and `write`, it must
      have been opened from files.
    - `tokenizer`: how texts are split into words, see `Tokenizer`, by default by the
      basic rule; methods can override it. A list is words, and is not split.
    - `max_length`, `overlap`, `batch_size`, `max_tokens`: see `BatchSizes`.
    """

    @checked
    def __init__(
        self,
        layers: Layers,
        *,
        tokenizer: Tokenizer = BASIC,
        max_length: Size = 512,
        overlap: Count = 128,
        batch_size: Size = 64,
        max_tokens: Size = 4096,
    ) -> None:
        self.layers = layers
        if isinstance(layers.source, BiLM):
            layers.source.cache_word_vectors()
        self.sizes = BatchSizes(
            max_length=max_length,
            overlap=overlap,
            batch_size=batch_size,
            max_tokens=max_tokens,
        )
        self.tokenizer = tokenizer
        self._splitter = Splitter(tokenizer)
        self._choices = LayerChoices(layers)
        self.vector_model("all")  # raises an error for layers with another state

    @classmethod
    @checked
    def from_pretrained(
        cls,
        model: Optional[PathLike] = None,
        *,
        device: str | int | torch.device | None = AUTO,
        tokenizer: Tokenizer = BASIC,
        precision: str = "float32",
        cache_dir: Optional[PathLike] = None,
        offline: bool = False,
        files: Optional[Mapping[str, Optional[PathLike]]] = None,
        max_length: Size = 512,
        overlap: Count = 128,
        batch_size: Size = 64,
        max_tokens: Size = 4096,
    ) -> "Elmo":
        """
        Open the bundled biLM, or another model by its name, as `--model` does: one that
        `elmo-tasks models` lists, a folder, a ZIP, their URL
        (`https://...zip#sha256=HEX` checks the digest), `hf://owner/name`, or
        `options.json+weights.hdf5`; see `models/files.py`. Raises `InputError` naming
        the file and all that is wrong with it.

        # Parameters

        - `precision`: that of `BiLM`.
        - `device`: such as `cpu` or `cuda:0`, a GPU's number, or `auto`: a GPU of CUDA
          if there is one, else the CPU. `mps` is untested.
        - `cache_dir`: folder of a `LayerCache`, which rounds layers to float16.
        - `offline`: if true, nothing is downloaded: what is not on this machine is an
          error.
        - `files`: in place of `model`, paths or URLs by their keys in a config.
        - The others are those of `Elmo`.

        >>> Elmo.from_pretrained(device="cpu", batch_size=32).dimension
        320
        """
        chosen = {"model": model, "precision": precision, "offline": offline}
        if files is not None:
            _require_files(files, model)
            chosen |= files
        settings = SourceSettings.of(chosen)
        layers = Layers.open(settings, cache_dir=cache_dir).to(opened_device(device))
        return cls(
            layers,
            tokenizer=tokenizer,
            max_length=max_length,
            overlap=overlap,
            batch_size=batch_size,
            max_tokens=max_tokens,
        )

    @classmethod
    def from_files(
        cls,
        options_file: Optional[PathLike] = None,
        weight_file: Optional[PathLike] = None,
        **options: Any,
    ) -> "Elmo":
        """
        Open a biLM from its official files, paths or URLs; by default the bundled one.
        The other arguments and the errors are those of `from_pretrained`.

        >>> elmo = Elmo.from_files("options.json", "weights.hdf5")  # doctest: +SKIP
        """
        files = {"options_file": options_file, "weight_file": weight_file}
        return cls.from_pretrained(files=files, **options)

    @checked
    def save_pretrained(
        self,
        folder: PathLike,
        *,
        format: Format | None = None,
        **card: Any,
    ) -> None:
        """
        Write the model's files to a folder that `from_pretrained` reads, with a model
        card, README.md. Other files of the folder are kept.

        # Parameters

        - `format`: of a biLM: `hdf5` for the official `options.json` and
          `weights.hdf5`, `safetensors` for `config.json` and `model.safetensors`. By
          default the opened files are copied, so that models which were trained with
          them accept the copy, and a biLM made in Python gets the official format.
        - `card`: the fields of `CardSettings`: `language`, `license`, `text`,
          `perplexity` and `unknown_share`. Without any, a README.md that is in the
          folder stays. The card of a tuned biLM names those that it was tuned from; a
          warning says if `license` leaves out their terms.

        Raises `InputError` if the files have changed since they were opened, or the
        folder cannot be written, or has another model.

        >>> elmo = Elmo.from_pretrained()
        >>> elmo.save_pretrained("copy", language="en")  # doctest: +SKIP
        """
        target = Path(folder)
        about = CardSettings(**card)
        name = target.absolute().name
        save_model(self.layers, target, chosen=format, about=about, name=name)

    @property
    def dimension(self) -> int:
        """The width of a vector: 2P with a biLM."""
        return self.layers.output_dim

    @property
    def n_layers(self) -> int:
        """The number of layers, L+1, including the context-free one."""
        return self.layers.n_layers

    @property
    def device(self) -> torch.device:
        """Where the layers are computed."""
        return self.layers.device

    @checked
    def to(self, device: str | int | torch.device | None) -> "Elmo":
        """
        Move the model to a device, as `from_pretrained` names it, and return it.

        >>> Elmo.from_pretrained().to("cpu").device
        device(type='cpu')
        """
        self.layers.to(opened_device(device))
        if isinstance(self.layers.source, BiLM):
            self.layers.source.cache_word_vectors()
        return self

    def _sizes_of(self, batch_size: int | None) -> BatchSizes:
        if batch_size is None:
            return self.sizes
        return replace(self.sizes, batch_size=batch_size)

    @checked
    @torch.no_grad()
    def __call__(
        self,
        sentences: Sentences | Tensor,
        *,
        layers: LayerChoice = "all",
        tokenizer: Tokenizer | None = None,
    ) -> ElmoOutput:
        """
        The vectors of one batch as a padded tensor on the device of the model, for
        modules of your own: [L+1, B, T, D] for all layers, otherwise [B, T, D], zero
        for padding.

        `sentences` are as in `embed`, or character ids [B, T, C] of `batch_to_ids`.
        They are computed at once, without windows, so that a long sentence or a large
        batch needs the memory for it.

        The model is frozen: the vectors are constants, through which no gradient goes
        to the biLM or a trained mix. For weights of the layers that learn, give them to
        a `ScalarMix(elmo.n_layers)`.

        >>> elmo = Elmo.from_pretrained()
        >>> elmo(["She heard it.", "It ended."]).vectors.shape  # [L+1, B, T, 2P]
        torch.Size([3, 2, 4, 320])
        """
        model = self.vector_model(layers)
        if isinstance(sentences, Tensor):
            output = self.layers(checked_ids(sentences).to(self.device))
        else:
            words = self._splitter.words(sentences, tokenizer)
            output = self.layers.of_words(words)
        vectors = model.of_layers(output)  # [L+1 or 1, B, T, D]
        if not model.has_layers:
            vectors = vectors[0]
        return ElmoOutput(vectors, output.mask)

    @checked
    def embed(
        self,
        sentences: str | Sentences,
        *,
        layers: LayerChoice = "all",
        tensors: bool = False,
        progress: bool = False,
        tokenizer: Tokenizer | None = None,
        batch_size: Size | None = None,
    ) -> Any:
        """
        The vectors of N sentences, each a list of words or a text: a list of N float32
        arrays, or of N tensors with `tensors`; of one text, its array. An array has
        shape [L+1, T, 2P] for all layers, otherwise [T, 2P]. For `layers` see
        `LayerChoice`. `tokenizer` splits texts into words; by default it is the
        constructor's, as is `batch_size`. `progress` shows a bar.

        >>> elmo = Elmo.from_pretrained()
        >>> heard, _ = elmo.embed([["She", "heard", "it"], "It ended."], layers="top")
        >>> heard.shape
        (3, 320)

        A column of a DataFrame is a list of sentences. A biLM with a vocabulary beside
        its files reads typographic marks that this lacks as plain ones, and says so
        once. Raises `InputError` if an argument is invalid, such as a DataFrame or a
        matrix, a vector is not finite, or memory runs out.
        """
        model = self.vector_model(layers)
        is_one = isinstance(sentences, str)
        texts = [sentences] if isinstance(sentences, str) else sentences
        words = self._splitter.words(texts, tokenizer)
        sizes = self._sizes_of(batch_size)
        with progress_bar(sum(map(len, words)), visible=progress) as bar:
            found = arrays_of(model, sizes, list(named(words)), bar.update)
        vectors: list[Any] = found
        if tensors:
            vectors = [torch.from_numpy(array) for array in found]
        return vectors[0] if is_one else vectors

    @checked
    def iter_embed(
        self,
        sentences: Sentences,
        *,
        layers: LayerChoice = "all",
        tensors: bool = False,
        tokenizer: Tokenizer | None = None,
        batch_size: Size | None = None,
    ) -> Iterator[Any]:
        """
        As `embed`, for a stream of sentences: an iterator of their vectors, in the same
        order. Sentences are read in blocks of a few batches, up to 1,024 of them, and
        the next block when the vectors of the last one have been taken; no more than
        that is in memory.

        Invalid arguments raise `InputError` at once, an invalid sentence when its block
        is read.

        >>> elmo = Elmo.from_pretrained()
        >>> for vectors in elmo.iter_embed(["She heard it.", "It ended."]):
        ...     print(vectors.shape)
        (3, 4, 320)
        (3, 3, 320)
        """
        model = self.vector_model(layers)
        words = self._splitter.stream(sentences, tokenizer)
        arrays = stream_of_arrays(model, self._sizes_of(batch_size), words)
        return map(torch.from_numpy, arrays) if tensors else arrays

    @checked
    def encode(
        self,
        texts: str | Sentences,
        *,
        pooling: Pooling = "mean",
        layers: LayerChoice = "average",
        tensors: bool = False,
        progress: bool = False,
        tokenizer: Tokenizer | None = None,
        batch_size: Size | None = None,
    ) -> Any:
        """
        A vector for each sentence, float32 [N, 2P], or [N, L+1, 2P] for all layers;
        zero for an empty sentence; of one text, its vector. `pooling` over the tokens
        is `mean`, `max`, `first` or `last`; for the rest see `embed`.

        >>> elmo = Elmo.from_pretrained()
        >>> elmo.encode(["She heard it.", "It ended."]).shape
        (2, 320)
        >>> elmo.encode("She heard it.").shape
        (320,)
        """
        is_one = isinstance(texts, str)
        arrays = self.embed(
            [texts] if isinstance(texts, str) else texts,
            layers=layers,
            progress=progress,
            tokenizer=tokenizer,
            batch_size=batch_size,
        )
        of_one = self.vector_model(layers).shape(1)
        shape = of_one[:-2] + of_one[-1:]  # without the axis of tokens
        vectors: Any = pooled(arrays, pooling, shape)
        if tensors:
            vectors = torch.from_numpy(vectors)
        return vectors[0] if is_one else vectors

    @checked
    def words(
        self, texts: Sentences, *, tokenizer: Tokenizer | None = None
    ) -> list[list[str]]:
        """
        The words of each text, as `embed` splits it.

        >>> Elmo.from_pretrained().words(["She didn't hear it."])
        [['She', 'did', "n't", 'hear', 'it', '.']]
        """
        return self._splitter.words(texts, tokenizer)

    @checked
    def mean_vectors(
        self,
        sentences: Sentences,
        words: SkipValidation[Sequence[str]],
        *,
        layers: LayerChoice = "average",
        tokenizer: Tokenizer | None = None,
        progress: Callable[[int], Any] = no_progress,
    ) -> np.ndarray:
        """
        The mean of the vectors of each word's occurrences, float32 [V, D]; see
        `static.mean_vectors`.

        >>> elmo = Elmo.from_pretrained()
        >>> elmo.mean_vectors(["They play.", "It was a play."], ["play"]).shape
        (1, 320)
        """
        wanted = word_list(words)
        if wanted is None:
            raise InputError(f"words: expected a list of words, got {shown(words)}")
        return mean_vectors(
            self.vector_model(layers),
            self.sizes,
            self._splitter.stream(sentences, tokenizer),
            wanted,
            progress=progress,
        )

    @checked
    def embed_batch(
        self,
        batch: SkipValidation[Mapping[str, Sequence[Any]]],
        *,
        column: str = "tokens",
        layers: LayerChoice = "average",
        tokenizer: Tokenizer | None = None,
    ) -> dict[str, list[np.ndarray]]:
        """
        A column `elmo` with the vectors of the sentences in `column`, for
        `map(elmo.embed_batch, batched=True)` of Hugging Face datasets. The pickle of an
        `Elmo` contains the files' sha256, so the fingerprints of datasets identify the
        biLM.

        >>> found = Elmo.from_pretrained().embed_batch({"tokens": [["She", "heard"]]})
        >>> found["elmo"][0].shape
        (2, 320)
        """
        if not isinstance(batch, Mapping):
            raise InputError(f"batch: expected columns by name, got {shown(batch)}")
        if column not in batch:
            raise InputError(
                f"column: expected one of {', '.join(batch)}, got {column!r}"
            )
        return {"elmo": self.embed(batch[column], layers=layers, tokenizer=tokenizer)}

    @checked
    def write(
        self,
        lines: SkipValidation[Lines],
        out: PathLike,
        *,
        layers: LayerChoice = "all",
        stored: Stored = "float32",
        tokenizer: Tokenizer | None = None,
        settings: Mapping[str, Any],
        **options: Any,
    ) -> None:
        """
        Write the vectors of lines to an HDF5 file, or with `pooling` a vector for each
        line; see `write_vectors` and, for `stored`, `VectorModel`. The name of the
        tokenizer is recorded as `tokenizer`, unless `settings` has another.

        >>> elmo = Elmo.from_pretrained()
        >>> with open("in.txt") as lines:  # doctest: +SKIP
        ...     elmo.write(enumerate(lines, 1), "out.hdf5", settings={})
        """
        split, name = self._splitter.opened(tokenizer)
        write_vectors(
            self.vector_model(layers, stored=stored),
            numbered(lines),
            out,
            sizes=self.sizes,
            parse=split,
            settings={**self.provenance(), "tokenizer": name, **settings},
            **options,
        )

    def provenance(self) -> dict[str, Any]:
        """
        The files of the source and its options, as files of vectors record them. Raises
        `InputError` if it was not opened from files.

        >>> Elmo.from_pretrained().provenance()["model"]
        'bundled'
        """
        files = self.layers.opened_files()
        source = self.layers.source
        found: dict[str, Any] = {"model": files.public, "model_sha256": files.sha256}
        if files.vocabulary is not None:  # which tells the marks that are read
            found["vocabulary_sha256"] = file_sha256(files.vocabulary)
        if isinstance(source, BiLM):
            found["options"] = json.dumps(source.options.to_dict())
        if isinstance(source, Transformer):
            found["options"] = source.model.config.to_json_string()
            found["word_pieces"] = source.pieces
        return found

    def vector_model(self, layers: LayerChoice, **options: Any) -> VectorModel:
        """
        The source with a choice of its layers; `options` are the other arguments of
        `VectorModel`.

        >>> Elmo.from_pretrained().vector_model("top").shape(5)
        (5, 320)
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
        settings = {"tokenizer": self.tokenizer, **asdict(self.sizes)}
        layers = self.layers
        files = layers.files
        if files is None or files.kind != BILM:
            return partial(type(self), **settings), (layers,)
        if is_remote(files.name) or files.name == BUNDLED:
            settings["model"] = files.name
        else:
            settings["files"] = {key: str(path) for key, path in files.paths.items()}
        if layers.cache is not None:
            settings["cache_dir"] = layers.cache.cache_dir
        settings |= {"precision": layers.precision, "device": str(layers.device)}
        return _reopened, (type(self), files.sha256, settings)


def _require_files(files: Mapping[str, Any], model: Any) -> None:
    for key in files:
        if key not in FILE_KEYS:
            expected = f"files: expected the keys {', '.join(FILE_KEYS)}"
            raise InputError(f"{expected}, got {key!r}")
    if model is not None:
        raise InputError(f"expected a model or files, got both: {shown(model)}")


def _reopened(kind: type[Elmo], sha256: str, settings: dict[str, Any]) -> Elmo:
    """What a pickle calls."""
    elmo = kind.from_pretrained(**settings)
    if elmo.layers.opened_files().sha256 != sha256:
        problem = "the model has changed since the pickle was written"
        name = elmo.layers.name
        raise InputError(f"{problem}; its sha256 was {sha256}", file=name)
    return elmo
