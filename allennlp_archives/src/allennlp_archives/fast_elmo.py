"""AllenNLP's ELMo in a trained model, computed by our biLM."""

import logging
from collections.abc import Mapping

from allennlp.models import Model
from allennlp.modules.elmo import Elmo, _ElmoBiLm
from torch import Tensor

from allennlp_archives.elmo_module import AllenNlpBiLM
from allennlp_archives.elmo_state import bilm_of
from allennlp_archives.options import FAST_ELMO
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)


def use_fast_elmo(model: Model) -> int:
    """
    Replaces the biLMs in the `Elmo` modules of a model by ours, with the same weights;
    returns how many. The model can only predict then.

    An `Elmo` with `do_layer_norm`, or with cached words, stays as it is, and a warning
    says so. Raises `InputError` if the model has no `Elmo` of AllenNLP.
    """
    elmos = [module for module in model.modules() if isinstance(module, Elmo)]
    if not elmos:
        raise InputError(
            f"{FAST_ELMO}: expected a model with AllenNLP's ELMo, got one without"
        )
    replaced = 0
    for elmo in elmos:
        bilm = elmo._elmo_lstm
        if not isinstance(bilm, _ElmoBiLm):
            continue
        problem = _problem(elmo, bilm)
        if problem is not None:
            logger.warning("%s has no effect: %s", FAST_ELMO, problem)
            continue
        elmo.add_module("_elmo_lstm", _converted(bilm))
        replaced += 1
    return replaced


def _problem(elmo: Elmo, bilm: _ElmoBiLm) -> str | None:
    """Why an `Elmo` cannot be computed by our biLM."""
    if elmo._keep_sentence_boundaries:
        return "the model uses the vectors of sentence boundaries"
    for mix in elmo._scalar_mixes:
        if mix.do_layer_norm:
            return "do_layer_norm averages over the sentence boundaries, too"
    if bilm._word_embedding is not None:
        return "the model has cached the vectors of its words (vocab_to_cache)"
    return None


def _converted(bilm: _ElmoBiLm) -> AllenNlpBiLM:
    options = BiLMOptions.from_dict(bilm._token_embedder._options)
    state: Mapping[str, Tensor] = bilm.state_dict()
    ours = bilm_of(state, options)
    device = next(bilm.parameters()).device
    return AllenNlpBiLM(ours.to(device).pack().cache_word_vectors())
