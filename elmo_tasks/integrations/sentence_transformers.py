"""
ELMo in sentence-transformers (6 or newer): the vectors of tokens, for its pooling.
"""

from collections.abc import Sequence
from typing import Any, Self

import torch
from sentence_transformers.base.modules import InputModule
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.elmo.vector_model import LayerChoice
from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.raw_text import Tokenizer


class ElmoModule(InputModule):
    """
    Frozen ELMo vectors of words, as the first of the `modules` of a
    `SentenceTransformer`.

    # Parameters

    - `elmo`: an `Elmo`, or a model that `Elmo.from_pretrained` opens.
    - `layers`: as in `LayerChoice`, except `all`.
    - `tokenizer`: splits the texts into words; by default the tokenizer of `elmo`. A
      saved model records its name, so only `whitespace`, `basic` and `spacy:...` can be
      saved.

    Raises `InputError` if `layers` is `all`.
    """

    config_file_name = "elmo_module.json"
    config_keys = ["layers", "tokenizer"]
    save_in_root = False

    def __init__(
        self,
        elmo: Any,
        *,
        layers: LayerChoice = "average",
        tokenizer: Tokenizer | None = None,
    ) -> None:
        super().__init__()
        if layers == "all":
            raise InputError("layers: expected one vector per word, got all layers")
        if not isinstance(elmo, Elmo):
            elmo = Elmo.from_pretrained(elmo, device="cpu")  # it moves with the model
        if not isinstance(layers, int):
            layers = str(layers)
        if tokenizer is None:
            tokenizer = elmo.tokenizer
        self.elmo: Elmo = elmo
        self.layers = layers
        self.tokenizer = tokenizer
        self.source = self.elmo.layers  # moves with the model

    def get_embedding_dimension(self) -> int:
        """Width of a vector: 2P."""
        return self.elmo.dimension

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """The words of each text, and their mask [B, T]."""
        texts = []
        for text in inputs:
            if not isinstance(text, str):
                raise InputError(f"expected texts, got {shown(text)}")
            texts.append((prompt or "") + text)
        words = self.elmo.words(texts, tokenizer=self.tokenizer)
        lengths = torch.tensor([len(one) for one in words])  # [B]
        longest = max(1, int(lengths.max()))
        mask = torch.arange(longest)[None] < lengths[:, None]  # [B, T]
        return {"words": words, "attention_mask": mask.long()}

    def forward(self, features: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Adds the vectors [B, T, 2P], zero for padding."""
        mask: Tensor = features["attention_mask"]  # [B, T]
        vectors = self.elmo.embed(features["words"], layers=self.layers, tensors=True)
        # A sentence of T words makes the others as long; T is 1 where none has a word.
        longest = torch.zeros(mask.shape[1], self.get_embedding_dimension())
        padded = pad_sequence(list(vectors) + [longest], batch_first=True)
        return features | {"token_embeddings": padded[:-1].to(mask.device)}

    def save(self, output_path: str, *args: Any, **options: Any) -> None:
        if not isinstance(self.tokenizer, str):
            raise InputError(
                f"expected the name of a tokenizer to save, got {shown(self.tokenizer)}",
                hint="whitespace, basic or spacy:LANGUAGE",
            )
        self.elmo.save_pretrained(output_path)
        self.save_config(output_path)

    @classmethod
    def load(cls, model_name_or_path: str, **options: Any) -> Self:
        """Opens what `save` wrote, in a folder or a repository of the hub."""
        keys = ("subfolder", "token", "cache_folder", "revision", "local_files_only")
        hub = {key: options[key] for key in keys if key in options}
        config = cls.load_config(model_name_or_path, **hub)
        return cls(cls.load_dir_path(model_name_or_path, **hub), **config)
