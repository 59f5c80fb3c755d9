"""Words -> the layers of a frozen transformer of Hugging Face's format (BERT, GPT-2, ...), behind the keys of ELMo."""
