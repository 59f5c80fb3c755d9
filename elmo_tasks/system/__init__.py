"""Files, processes and machines: without torch, AllenNLP or anything of ELMo."""
