// The word vectors of a task model, as the hidden field `vectors` of its config says:
//   { pretrained_file, embedding_dim }   those of a file
//   { embedding_dim }                    learned with the model, for a language without such a file
//   null                                 none; characters or ELMo must be left
{
  // The token embedder under the key `tokens`; `options` are those of vectors of a file.
  embedder(vectors, options)::
    if vectors == null then {}
    else {
      tokens: { type: 'elmo_tasks_word_vectors' }
              + (if std.objectHas(vectors, 'pretrained_file') then options else { trainable: true })
              + vectors,
    },
}
