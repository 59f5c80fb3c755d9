"""Registers the data loader of runs that measure memory, and of no others."""

from allennlp.data import DataLoader

from elmo_tasks.experiments.tables.largest_batch import LargestBatchLoader
from elmo_tasks.experiments.tables.memory import LARGEST_BATCH

DataLoader.register(LARGEST_BATCH)(LargestBatchLoader)
