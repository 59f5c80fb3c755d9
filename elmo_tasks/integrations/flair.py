"""flair: token embeddings in place of `ELMoEmbeddings`, which needs AllenNLP 0.9."""

from typing import Any

import torch

from elmo_tasks.elmo.layer_choice import LayerChoice
from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.errors import needs

with needs("flair"):
    import flair
    from flair.data import Sentence
    from flair.embeddings.base import TokenEmbeddings, register_embeddings


@register_embeddings("elmo_tasks")
class ElmoEmbeddings(TokenEmbeddings):
    """
    Frozen ELMo vectors of tokens. Takes the arguments of `Elmo.from_pretrained`, but
    runs on the CPU by default. With `layers` `all`, the layers are concatenated, so a
    vector has (L+1) * 2P values. A saved model records the name of the ELMo model, not
    its weights.
    """

    def __init__(
        self,
        model: str | None = None,
        layers: LayerChoice = "all",
        **settings: Any,
    ) -> None:
        self._params = {"model": model, "layers": layers} | settings
        self.name = f"elmo_tasks-{model or 'default'}-{layers}"
        self.static_embeddings = True
        super().__init__()
        chosen = {"device": "cpu"} | settings
        self._elmo = Elmo.from_pretrained(model, **chosen)
        self._layers = layers
        self._length = self._vectors([["word"]])[0].shape[-1]

    @property
    def embedding_length(self) -> int:
        return self._length

    def to_params(self) -> dict[str, Any]:
        return self._params

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> "ElmoEmbeddings":
        return cls(**params)

    def _add_embeddings_internal(self, sentences: list[Sentence]) -> None:
        words = []
        for sentence in sentences:
            words.append([token.text for token in sentence])
        vectors = self._vectors(words)
        for sentence, rows in zip(sentences, vectors, strict=True):
            for token, row in zip(sentence, rows.to(flair.device), strict=True):
                token.set_embedding(self.name, row)

    def _vectors(self, words: list[list[str]]) -> list[torch.Tensor]:
        """
        The vectors of each sentence [T, 2P], or those of all its layers one after the
        other [T, (L+1) * 2P].
        """
        found = []
        for vectors in self._elmo.embed(words, layers=self._layers, tensors=True):
            if vectors.dim() == 3:  # [L+1, T, 2P]
                vectors = vectors.movedim(0, -2).flatten(-2)
            found.append(vectors)
        return found
