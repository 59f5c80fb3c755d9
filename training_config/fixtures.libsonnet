// The folder of the bundled corpus, word vectors and biLM, for mini and small.
std.strReplace(std.thisFile, 'fixtures.libsonnet', '../fixtures')
