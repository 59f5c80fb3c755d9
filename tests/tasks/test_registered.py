"""
The names of our classes in configs, which users' configs depend on: none is missing, and
none has another class.
"""

import pytest
from allennlp.common import Registrable

from elmo_tasks.host import register_classes

REGISTERED = {
    "BatchSampler": {
        "elmo_tasks_token_budget": "TokenBudgetSampler",
    },
    "DataLoader": {
        "elmo_tasks_lm": "LmDataLoader",
        "elmo_tasks_share": "ShareDataLoader",
    },
    "DatasetReader": {
        "elmo_tasks_coref": "CorefReader",
        "elmo_tasks_lm": "LmReader",
        "elmo_tasks_ner": "NerReader",
        "elmo_tasks_snli": "SnliReader",
        "elmo_tasks_squad": "SquadReader",
        "elmo_tasks_srl": "SrlReader",
        "elmo_tasks_sst": "SstReader",
        "elmo_tasks_tagger": "ColumnReader",
        "elmo_tasks_task_text": "TaskTextReader",
    },
    "Evaluator": {
        "elmo_tasks_classifier": "LabelEvaluator",
        "elmo_tasks_coref": "CorefEvaluator",
        "elmo_tasks_squad": "SquadEvaluator",
        "elmo_tasks_srl": "SrlEvaluator",
        "elmo_tasks_tagger": "TagEvaluator",
    },
    "Head": {
        "elmo_tasks_maxout": "MaxoutHead",
        "elmo_tasks_relu": "ReluHead",
    },
    "Initializer": {
        "elmo_tasks_values": "ValuesInitializer",
    },
    "LearningRateScheduler": {
        "elmo_tasks_staircase": "Staircase",
        "reduce_on_plateau": "ReduceOnPlateau",
    },
    "Metric": {
        "elmo_tasks_coref": "CorefScores",
        "elmo_tasks_entity_f1": "EntityF1",
        "elmo_tasks_squad": "SquadEmAndF1",
        "elmo_tasks_srl_f1": "SrlF1",
    },
    "Model": {
        "elmo_tasks_bilm": "BiLMModel",
        "elmo_tasks_coref": "CorefModel",
        "elmo_tasks_ner": "NerTagger",
        "elmo_tasks_snli": "EntailmentModel",
        "elmo_tasks_squad": "SquadModel",
        "elmo_tasks_srl": "SrlTagger",
        "elmo_tasks_sst": "SentimentClassifier",
        "elmo_tasks_tagger": "ColumnTagger",
        "elmo_tasks_tuned_bilm": "BiLMModel",
        "from_archive": "TunedModel",
    },
    "MovingAverage": {
        "elmo_tasks_exponential": "ConstantMovingAverage",
        "exponential": "ResumableMovingAverage",
    },
    "Predictor": {
        "elmo_tasks_coref": "CorefPredictor",
        "elmo_tasks_ner": "NerPredictor",
        "elmo_tasks_snli": "SnliPredictor",
        "elmo_tasks_squad": "SquadPredictor",
        "elmo_tasks_srl": "SrlPredictor",
        "elmo_tasks_sst": "SstPredictor",
        "elmo_tasks_tagger": "TaggerPredictor",
    },
    "Seq2SeqEncoder": {
        "elmo_tasks_coupled_lstm": "CoupledLstm",
        "elmo_tasks_feedforward_lstm": "FeedForwardLstm",
        "elmo_tasks_gru": "Gru",
        "elmo_tasks_highway_lstm": "HighwayLstm",
        "elmo_tasks_stacked_lstm": "StackedLstm",
    },
    "Seq2VecEncoder": {
        "cnn": "PaddedCnn",
        "elmo_tasks_character_cnn": "CharacterCnn",
        "elmo_tasks_character_cnns": "CharacterCnns",
    },
    "TokenEmbedder": {
        "elmo_tasks": "ElmoTokenEmbedder",
        "elmo_tasks_concatenated_vectors": "ConcatenatedVectors",
        "elmo_tasks_projected": "ProjectedEmbedder",
        "elmo_tasks_word_vectors": "WordVectors",
    },
    "TokenIndexer": {
        "elmo_tasks_characters": "CharacterIndexer",
        "elmo_tasks_predicate": "PredicateIndexer",
        "elmo_tasks_word_ids": "WordIndexer",
    },
    "Tokenizer": {
        "elmo_tasks_spacy": "BlankSpacyTokenizer",
        "elmo_tasks_squad": "SquadTokenizer",
    },
    "TrainModel": {
        "elmo_tasks": "CheckedTrainModel",
        "elmo_tasks_verified": "VerifiedTrainModel",
    },
    "Trainer": {
        "elmo_tasks": "ResumableTrainer",
    },
    "TrainerCallback": {
        "elmo_tasks_epoch_lines": "EpochLines",
        "elmo_tasks_lm_progress": "LmProgress",
        "elmo_tasks_tuning": "Tuning",
        "elmo_tasks_wandb": "WeightsAndBiases",
    },
    "Vocabulary": {
        "elmo_tasks_words": "LmVocabulary",
        "from_files": "SavedVocabulary",
    },
}
"""For each base class, the names of classes."""


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    register_classes()


def ours(base: str) -> dict[str, str]:
    """The names that classes of this package have below a base class."""
    found = {}
    for registrable, entries in Registrable._registry.items():
        if registrable.__name__ != base:
            continue
        for name, (registered_class, _) in entries.items():
            if registered_class.__module__.startswith("elmo_tasks."):
                found[name] = registered_class.__name__
    return found


@pytest.mark.parametrize("base", REGISTERED)
def test_the_names_of_our_classes(base: str) -> None:
    assert ours(base) == REGISTERED[base]


def test_no_base_class_is_left_out() -> None:
    bases = [base.__name__ for base in Registrable._registry]
    assert {base for base in bases if ours(base)} == REGISTERED.keys()
