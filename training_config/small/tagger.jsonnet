// The tagger on your data, with the bundled biLM where it has ELMo.
import '../paper/tagger.jsonnet'
