// Answers of AllenNLP's predictors in the form of ours, so that the same drawings show them. The keys of an answer say
// what it is: models of one predictor have the same ones.

const textOf = (tokens, start, end) => tokens.slice(start, end).join(" ");

/** The spans of tags in BIO, IOB1 or BIOUL, null if some tag is of another kind. */
function spansOf(tags, tokens) {
  const spans = [], parts = tags.map((tag) => /^(?:O|([BILU])-(.+))$/.exec(tag));
  if (parts.includes(null)) return null;
  let open = null;
  parts.forEach(([, prefix, label], place) => {
    const goesOn = open?.label === label && /[IL]/.test(prefix);
    if (!goesOn) open = label ? { label, token_start: place } : null;
    if (!open) return;
    if (!goesOn) spans.push(open);
    open.token_end = place + 1;
    open.text = textOf(tokens, open.token_start, open.token_end);
    if (/[LU]/.test(prefix)) open = null;
  });
  return spans;
}

function tagged({ words: tokens, tags }) {
  const spans = spansOf(tags, tokens);
  if (!spans) return { drawing: "tags", output: { tokens, tags } };
  return { drawing: "entities", output: { tokens, entities: spans.map((one) => ({ ...one, type: one.label })) } };
}

/** What each word depends on, below it. */
function parsed({ words: tokens, predicted_dependencies, predicted_heads: heads }) {
  const tags = predicted_dependencies.map((name, place) =>
    heads[place] ? `${name} of ${tokens[heads[place] - 1]}` : name);
  return { drawing: "tags", output: { tokens, tags } };
}

function framed({ words: tokens, verbs }) {
  const frames = verbs.map(({ verb, tags }, place) => {
    const spans = spansOf(tags, tokens) ?? [];
    const predicate = spans.find((one) => one.label === "V")?.token_start ?? place;
    return { verb, predicate, arguments: spans };
  });
  return { drawing: "frames", output: { tokens, frames } };
}

/** AllenNLP's clusters name the first and the last token of each mention. */
function clustered({ document: tokens, clusters }) {
  const mention = ([first, last]) => ({ text: textOf(tokens, first, last + 1), token_start: first, token_end: last + 1 });
  return { drawing: "clusters", output: { sentences: [tokens], clusters: clusters.map((one) => one.map(mention)) } };
}

/** A class and its probabilities, which have the names of the model's labels, if these are as many. */
function classified({ label, ...output }, probabilities, labels) {
  const most = probabilities.indexOf(Math.max(...probabilities));
  const isNamed = labels?.length === probabilities.length;
  const named = probabilities.map((value, place) =>
    [isNamed ? labels[place] : place === most ? label : `class ${place}`, value]);
  const found = { label, probabilities: Object.fromEntries(named) };
  if (!output.p2h_attention || !output.premise_tokens) return { drawing: "verdict", output: found };
  return { drawing: "attention", output: { ...found, premise: output.premise_tokens, hypothesis: output.hypothesis_tokens,
    premise_attention: output.p2h_attention, hypothesis_attention: output.h2p_attention } };
}

/** Where an answer begins that begins with a token of the passage; the token's letters may be in lower case. */
function startOf(answer, passage, tokens, first) {
  const text = passage.toLowerCase();
  let at = 0;
  for (const token of tokens.slice(0, first)) {
    const letters = token.replace(/^(##|Ġ|▁)/, "").toLowerCase(), found = text.indexOf(letters, at);
    if (found >= 0) at = found + letters.length;
  }
  const start = passage.indexOf(answer, at);
  return start >= 0 ? start : passage.indexOf(answer);
}

/** The answer to a question: a span of the passage, or a text that is not in it. */
function answered({ best_span_str: text, best_span: [first], passage_tokens, context_tokens }, { question, ...input }) {
  const passage = input.passage ?? input.context, start = startOf(text, passage, passage_tokens ?? context_tokens, first);
  const before = [...passage.slice(0, start)].length;  // offsets count code points
  const answers = text && start >= 0 ? [{ text, start: before, end: before + [...text].length }] : [];
  return { drawing: "found", output: { question, text: text || "no answer", answers }, input: { passage } };
}

/** The answer of NAQANet, which can be a number, too. */
function counted({ answer }, { question, passage }) {
  const text = `${answer.value ?? answer.count}`;
  const spans = answer.answer_type === "passage_span" ? answer.spans : [];
  const answers = spans.map(([start, end]) => ({ text, start, end }));
  return { drawing: "found", output: { question, text, answers }, input: { passage } };
}

/** The tokens of the best sequence: a model returns one, or several, best first. */
const bestOf = (sequences) => Array.isArray(sequences[0]) ? sequences[0] : sequences;

function read(output, input, labels) {
  const has = (...keys) => keys.every((key) => output[key] != null);
  const probabilities = output.probs ?? output.label_probs ?? output.class_probabilities;
  const said = (text) => ({ drawing: "text", output: { text } });
  if (has("verbs", "words")) return framed(output);
  if (has("tags", "words")) return tagged(output);
  if (has("predicted_dependencies", "words")) return parsed(output);
  if (has("document", "clusters")) return clustered(output);
  if (has("best_span_str", "best_span")) return answered(output, input);
  if (has("answer", "passage_tokens")) return counted(output, input);
  if (has("label") && typeof probabilities?.[0] === "number") return classified(output, probabilities, labels);
  if (has("trees")) return said(output.trees);
  if (has("predicted_text")) return said(output.predicted_text);
  if (has("predicted_tokens")) return said(bestOf(output.predicted_tokens).join(" "));
  return null;
}

/** `labels` are those of the model. { drawing, output, input }, null for an answer that has no drawing. */
export function asOurs(...answer) {
  try {
    return read(...answer);
  } catch {  // the answer of another predictor, which has the same keys
    return null;
  }
}
