"""
`ElmoEmbedder`, as AllenNLP had it until its version 1.0, for scripts that call it.
AllenNLP is not needed.
"""

from collections.abc import Iterable, Iterator
from typing import Optional

import numpy as np
from numpy.typing import NDArray
from pydantic import SkipValidation
from torch import Tensor

from elmo_tasks.elmo.sentence_embedder import Elmo
from elmo_tasks.settings import Device, PathLike, Size, checked

DEFAULT = "elmo-original"
"""The published model whose addresses were AllenNLP's defaults."""


class ElmoEmbedder:
    """
    The vectors of sentences, all layers, of a biLM of three layers such as the paper's:
    `Elmo` under the names of AllenNLP's class.

    Every sentence starts from zero states. AllenNLP's class kept the states from one
    call to the next, so that its vectors of a sentence depended on the sentences
    before.

    # Parameters

    - `options_file`, `weight_file`: paths or URLs of the official files. By default the
      paper's model, AllenNLP's default, which is downloaded once.
    - `cuda_device`: number of the GPU, or -1 for the CPU.

    >>> from elmo_tasks.resources import embedded_bilm
    >>> embedder = ElmoEmbedder(*embedded_bilm())
    >>> embedder.embed_sentence(["She", "heard"]).shape
    (3, 2, 320)
    >>> [one.shape for one in embedder.embed_batch([["She"], ["It", "ended"]])]
    [(3, 1, 320), (3, 2, 320)]
    >>> len(list(embedder.embed_sentences([["She"], ["It"]], batch_size=1)))
    2
    >>> vectors, mask = embedder.batch_to_embeddings([["She"], ["It", "ended"]])
    >>> mask.tolist()
    [[True, False], [True, True]]
    """

    @checked
    def __init__(
        self,
        options_file: Optional[PathLike] = None,
        weight_file: Optional[PathLike] = None,
        cuda_device: Device = -1,
    ) -> None:
        device = "cpu" if cuda_device < 0 else f"cuda:{cuda_device}"
        if options_file is None and weight_file is None:
            self.elmo = Elmo.from_pretrained(DEFAULT, device=device)
        else:
            self.elmo = Elmo.from_files(options_file, weight_file, device=device)

    def batch_to_embeddings(self, batch: list[list[str]]) -> tuple[Tensor, Tensor]:
        """Padded vectors of B sentences [B, 3, T, D], and their mask, bool [B, T]."""
        vectors, mask = self.elmo(batch)
        return vectors.transpose(0, 1), mask

    def embed_sentence(self, sentence: list[str]) -> NDArray[np.float32]:
        """The vectors of T words, float32 [3, T, D]."""
        return self.embed_batch([sentence])[0]

    def embed_batch(self, batch: list[list[str]]) -> list[NDArray[np.float32]]:
        """The vectors of each sentence, float32 [3, T, D]; T is 0 without words."""
        return self.elmo.embed(batch)

    @checked
    def embed_sentences(
        self, sentences: SkipValidation[Iterable[list[str]]], batch_size: Size = 64
    ) -> Iterator[NDArray[np.float32]]:
        """`embed_batch` for a stream; `batch_size` sentences are computed together."""
        return self.elmo.iter_embed(sentences, batch_size=batch_size)
