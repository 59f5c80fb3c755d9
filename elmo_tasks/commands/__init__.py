"""The `allennlp` subcommands of this project: thin, and the only place that prints."""
