// The tagger on your data, with the embedded biLM where it has ELMo.
(import '../paper/tagger.jsonnet') { scale:: 'small' }
