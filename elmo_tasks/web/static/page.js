// The page of `elmo-tasks serve`. Texts of users and models enter the document as text nodes only.
import { asOurs } from "./answers.js";

const LISTED = 12;  // differences that are listed at most
const HUES = { PER: 255, LOC: 150, ORG: 65, MISC: 310, V: 28, ARG0: 255, ARG1: 150, ARG2: 65, ARG3: 190, neutral: 255,
  entailment: 150, contradiction: 28, "very negative": 28, negative: 50, positive: 170, "very positive": 150 };
const $ = (id) => document.getElementById(id);
const number = (value) => value.toFixed(3).replace("-", "−");
const counted = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
const quoted = (text) => `“\u2068${text}\u2069”`;  // isolated: its direction does not reach its neighbours
const spread = (index) => Math.round(255 + 137.508 * index) % 360;
/** The same label has the same colour everywhere, whatever its prefix. */
function hueOf(label) {
  const base = label.replace(/^([CR]-|[BIOUL]-)+/, "");
  return HUES[base] ?? spread([...base].reduce((sum, letter) => (sum * 31 + letter.codePointAt()) % 99991, 7));
}

/** An element of "tag.class"; parts are text, elements, attributes (`on...`: listeners, `--...`: properties). */
function h(tag, ...parts) {
  const [name, ...classes] = tag.split("."), element = document.createElement(name);
  if (classes.length) element.classList.add(...classes);
  for (const part of parts.flat(3)) {
    if (typeof part === "string" || part instanceof Node) element.append(part);
    else for (const [key, value] of Object.entries(part ?? {})) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (key.startsWith("--")) element.style.setProperty(key, value);
      else if (value != null && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
  }
  return element;
}

/** Spans of tokens as spans of code points of the text: the input's, else the tokens with blanks between them. */
function located(tokens, text, spans) {
  if (text != null) return [text, spans];
  const ends = [];
  for (const token of tokens) ends.push((ends.at(-1) ?? -1) + 1 + [...token].length);
  return [tokens.join(" "), spans.map((span) =>
    ({ ...span, start: span.token_start ? ends[span.token_start - 1] + 1 : 0, end: ends[span.token_end - 1] }))];
}

/** The text with marks around spans { start, end, hue, label, badge, fact, group }, which may nest and cross. */
function marked(text, spans) {
  const letters = [...text];  // offsets count code points, JavaScript's strings UTF-16 units
  const inner = (one, two) => two.start - one.start || one.end - two.end;
  const waiting = [...spans].sort(inner), root = h("p.text", { dir: "auto" });
  const open = [{ element: root, end: Infinity, levels: 0 }];
  let at = 0;
  const advance = (to) => { open.at(-1).element.append(letters.slice(at, to).join("")); at = to; };
  const close = (place) => {
    while (open.at(-1).end <= place) {
      advance(open.at(-1).end);
      const { element, levels, label } = open.pop();
      if (label) element.append(h("span.label", label));
      element.style.setProperty("--levels", levels);
      open.at(-1).levels = Math.max(open.at(-1).levels, levels + 1);
    }
  };
  while (waiting.length) {
    const span = { ...waiting.pop(), levels: 0 };
    close(span.start);
    advance(span.start);
    const { element: parent, end } = open.at(-1);
    if (span.end > end) {  // crosses its parent: the rest becomes another mark
      waiting.push({ ...span, start: end, badge: null });
      waiting.sort(inner);
      Object.assign(span, { end, label: null });
    }
    span.element = h("mark", { "--hue": span.hue, "data-fact": span.fact, "data-group": span.group });
    if (span.badge) span.element.append(h("span.label", span.badge));
    parent.append(span.element);
    open.push(span);
  }
  close(letters.length);
  advance(letters.length);
  root.style.setProperty("--levels", open[0].levels);
  return root;
}

const bars = (caption, rows) => h("table.bars", h("caption", caption), h("tbody", rows.map((row) =>
  h("tr", { "data-fact": row.fact }, h("th", { scope: "row" }, row.name),
    h("td", h("div", { "--hue": row.hue, "--share": row.value })), h("td.number", number(row.value))))));
const labelled = (label, fact) => h("p.verdict", { "--hue": hueOf(label), "data-fact": fact }, label);
const verdict = ({ label, probabilities }) => [labelled(label), bars("Probability", Object.entries(probabilities).map(
  ([name, value]) => ({ name, value, hue: hueOf(name), fact: name === label ? `${label}\n${label}, ${number(value)}` : null })))];
const goldLabel = ({ label }) => labelled(label, `${label}\n${label}`);
const scrolling = (name, child) => h("div.scroll", { role: "region", "aria-label": name, tabindex: 0 }, child);

// ---- The tasks. A fact, "key\nwords", is what answers are compared by: they differ if only one of them has the key.
const keyOf = (one) => [one.token_start, one.token_end, one.label ?? one.type];
const drawFrames = ({ tokens, frames }, input) => frames.map((frame) => [h("h3", { dir: "auto" }, frame.verb),
  marked(...located(tokens, input.sentence, frame.arguments.map((one) => ({ ...one, hue: hueOf(one.label),
    fact: one.label === "V" ? null  // which is part of the question
      : `${[frame.predicate, keyOf(one)]}\n${frame.verb}: ${one.label} ${quoted(one.text)}` }))))]);

function drawClusters({ sentences, clusters }, input) {
  const spanOf = (one, before, group) => ({ ...one, badge: `${group + 1}`, group, hue: spread(group), fact: before &&
    `${[keyOf(one), keyOf(before)]}\n${quoted(one.text)} refers to ${quoted(before.text)}` });
  const spans = clusters.flatMap((own, group) => own.map((one, place) => spanOf(one, own[place - 1], group)));
  const legend = clusters.map((own, group) => h("li", { tabindex: 0, "data-group": group, "--hue": spread(group) },
    h("span.label", `${group + 1}`), own.map((one, place) => [place ? " · " : "", h("bdi", one.text)])));
  const drawing = h("div.clusters", marked(...located(sentences.flat(), input.text, spans)), h("ul.legend", legend));
  const light = ({ target }) => {
    const group = target.closest("[data-group]")?.dataset.group;
    for (const one of drawing.querySelectorAll("mark, li")) one.classList.toggle("hot", one.dataset.group === group);
  };
  for (const type of ["pointerover", "focusin"]) drawing.addEventListener(type, light);
  return drawing;
}

/** As the official scorer of SQuAD compares answers: without case, punctuation and articles. */
const bare = (text) => text.toLowerCase().replace(/[!-/:-@[-`{-~]/g, "").replace(/\b(a|an|the)\b/g, " ")
  .split(/\s+/).filter(Boolean).join(" ");
const answerFact = (one) => `${bare(one.text)}\n${quoted(one.text)}`;
const asked = (question) => h("p.question", { dir: "auto" }, question);
const goldAnswer = ({ question, answers }, input) => [asked(question), marked(input.passage,
  answers.map((one) => ({ ...one, hue: 150, fact: answerFact(one) })))];

function drawAnswer({ n_best: answers, question }, input) {
  const passage = h("div"), share = (one) => h("span.number", number(one.probability));
  const buttons = answers.map((one, place) => h("button", { type: "button", "--share": one.probability,
    onclick: () => choose(place) }, h("bdi", one.text), share(one)));
  const choose = (place) => {
    const one = answers[place], fact = place ? null : answerFact(one);
    passage.replaceChildren(marked(input.passage, [{ ...one, hue: 150, fact }]));
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === place));
  };
  choose(0);
  return [asked(question), passage, h("h3", "Best answers and their probabilities"),
    h("ol.answers", buttons.map((one) => h("li", one)))];
}

function drawAttention({ premise, hypothesis, ...output }) {
  const most = VIEWS[view].attention, cut = (list) => list.slice(0, most);
  const head = (scope) => (word) => h("th", { scope }, h("bdi", word));
  const grid = (name, rows, columns, weights) => h("div", h("h3", name), scrolling(name, h("table.grid",
    h("thead", h("tr", h("td"), cut(columns).map(head("col")))), h("tbody", cut(rows).map((word, row) => h("tr",
      head("row")(word), cut(weights[row]).map((weight) => h("td", { "--share": weight }, weight.toFixed(2)))))))));
  const long = Math.max(premise.length, hypothesis.length) > most;
  const note = h("p.note", `The attention is that of the first ${most} words of each sentence.`);
  return [verdict(output), long ? note : null, h("div.grids",
    grid("Attention of the premise (rows) over the hypothesis", premise, hypothesis, output.premise_attention),
    grid("Attention of the hypothesis (rows) over the premise", hypothesis, premise, output.hypothesis_attention))];
}

const drawTags = ({ tokens, tags }) => h("p.tokens", { dir: "auto" }, tokens.map((token, place) => [h("span.token", {
  "--hue": hueOf(tags[place]), "data-fact": `${[place, tags[place]]}\n${quoted(token)} (${place}) ${tags[place]}` },
h("bdi", token), h("small", tags[place])), " "]));
const drawEntities = ({ tokens, entities }, input) => marked(...located(tokens, input.sentence, entities.map((one) =>
  ({ ...one, label: one.type, hue: hueOf(one.type), fact: `${keyOf(one)}\n${quoted(one.text)} ${one.type}` }))));
/** One answer without a probability, which can be elsewhere than in the passage. */
const drawFound = (output, input) => [goldAnswer(output, input),
  output.answers.length ? null : [h("h3", "Answer"), saidText(output)]];
const saidText = ({ text }) => h("p.text", { dir: "auto", "data-fact": `${JSON.stringify(text)}\n${quoted(text)}` }, text);
const best = ({ label, probabilities }) => `${label}, ${number(probabilities[label])}`;
/**
 * By the `drawing` of a task: `said` sums up an output, `gold` draws a gold answer where `draw` cannot, `any` is true
 * where one of its facts is enough.
 */
const DRAWINGS = {
  entities: { draw: drawEntities, said: ({ entities }) => counted(entities.length, "entity", "entities") },
  frames: { draw: drawFrames, said: ({ frames }) => counted(frames.length, "frame") },
  clusters: { draw: drawClusters, said: ({ clusters }) =>
    `${counted(clusters.length, "cluster")}, ${counted(clusters.flat().length, "mention")}` },
  answer: { draw: drawAnswer, gold: goldAnswer, any: true, said: ({ text, probability }) => `${quoted(text)}, ${number(probability)}` },
  attention: { draw: drawAttention, gold: goldLabel, said: best },
  verdict: { draw: verdict, gold: goldLabel, said: best },
  tags: { draw: drawTags, said: ({ tokens }) => counted(tokens.length, "word") },
  found: { draw: drawFound, said: ({ text }) => quoted(text) },
  text: { draw: saidText, said: () => "an answer" },
  json: { draw: (output) => h("pre", { tabindex: 0, "data-fact": `${JSON.stringify(output)}\nthis answer` },
    JSON.stringify(output, null, 1)), said: () => "an answer" },
};
/**
 * The tabs by name: a drawing, and of a record `title`, `about`, `examples`, and the `boxes` of its form (key, title,
 * rows and kind): the `fields` of an input as text, and those of an input as `words`.
 */
const VIEWS = {};

// ---- Answers
/** What the server answers: { name, path, body, text }. Raises an `Error` in words. */
async function ask(name, body, signal) {
  const path = `/api/predict/${encodeURIComponent(name)}`;
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body, signal };
  const response = await fetch(path, request).catch(() => { throw new Error("The server does not answer."); });
  const text = await response.text();
  if (response.ok) return { name, path, body, text };
  throw new Error(parsed(text).error ?? response.statusText);
}

/** The drawing of an answer, with the output and the input that it takes. */
function readAnswer({ name, body, text }) {
  const { task, labels } = modelNamed(name), output = JSON.parse(text), input = JSON.parse(body);
  const ours = VIEWS[task].drawing === "json" ? asOurs(output, input, labels) : null;
  return ours ? { input: {}, ...ours, ...DRAWINGS[ours.drawing] } : { output, input, ...VIEWS[task] };
}
const drawn = (answer) => { const { draw, output, input } = readAnswer(answer); return draw(output, input); };
const sayAnswer = (answer) => { const { said, output } = readAnswer(answer); return said(output); };

/** The exact answer, and the command that gets it. */
function sources({ path, body, text }) {
  const shell = (part) => `'${part.replaceAll("'", "'\\''")}'`;
  const command = `curl -s -H 'Content-Type: application/json' -d ${shell(body)} ${shell(location.origin + path)}`;
  return [["JSON", text], ["curl", command]].map(([name, content]) => {
    const shown = h("pre", { tabindex: 0, "aria-label": name });
    return h("details", { ontoggle: () => { shown.textContent = content; } }, h("summary", name), shown);
  });
}
const mixOf = ({ mix }) => mix && h("aside.mix", mix.length ? [h("h3", "ELMo mix"), mix.map(({ at, gamma, weights }) =>
  bars(`at the ${at}, γ ${number(gamma)}`, weights.map((value, k) => ({ name: `layer ${k}`, value, hue: 28 }))))]
  : h("p.soft", "This model has no ELMo."));

// ---- Facts, and how many of them are right
/** The facts of a drawing, words by key. */
function factsOf(drawing) {
  const marks = [drawing, ...drawing.querySelectorAll("*")].filter((one) => one.dataset.fact);
  return new Map(marks.map((mark) => mark.dataset.fact.split("\n")));
}

/** A gold answer as { drawing, facts }, null if it is not known. */
function goldOf(input) {
  const example = VIEWS[view].examples.find((one) => sorted(one.input) === sorted(input));
  if (!example?.gold) return null;
  const { gold, draw } = VIEWS[view], drawing = h("div.drawing", (gold ?? draw)(example.gold, input));
  return { drawing, facts: factsOf(drawing) };
}

/** How many facts of the gold answer are found, and how many others. */
function scored(facts, gold) {
  const found = [...facts.keys()].filter((key) => gold.facts.has(key)).length;
  const wanted = VIEWS[view].any ? 1 : gold.facts.size;
  return { right: found, wanted, wrong: facts.size - found };
}
const sum = (scores) => scores.reduce((one, two) =>
  ({ right: one.right + two.right, wanted: one.wanted + two.wanted, wrong: one.wrong + two.wrong }));
const isRight = ({ right, wanted, wrong }) => right === wanted && !wrong;
function saidScore(score) {
  if (isRight(score)) return "right";
  if (score.wanted === 1 && score.wrong === 1 && !score.right) return "wrong";
  return saidCounts(score);
}
const saidCounts = ({ right, wanted, wrong }) => `${right} of ${wanted}${wrong ? `, ${wrong} wrong` : ""}`;
/** The same in a narrow cell. */
const inLines = (text) => text.split(/(?<=,) /).map((line) => [h("span", line), " "]);
const badge = (score, text) => h(isRight(score) ? "span.badge.good" : "span.badge.poor", text);

function panel({ name, value: answer }, gold) {
  let drawing;
  try {
    drawing = drawn(answer);
  } catch (error) {
    drawing = h("p.note", `This answer cannot be drawn (${error.message}). Its JSON is below.`);
  }
  const framed = h("div.drawing", drawing), facts = factsOf(framed);
  const score = gold ? scored(facts, gold) : null;
  const shown = h("article.card", { "aria-label": name },
    h("div.title", h("h2", { dir: "auto" }, name), score && badge(score, saidScore(score))),
    h(`div.beside.${view}`, framed, mixOf(modelNamed(name))),
    h("div.sources", sources(answer)));
  return { name, shown, facts };
}
const goldPanel = ({ drawing }) => h("article.card.gold", { "aria-label": "Gold answer" },
  h("div.title", h("h2", "Gold answer"), h("span.soft", "from the test data")), drawing);

/** Marks what only one of two panels has, and says it. */
function differences(panels, gold) {
  const columns = panels.map(({ name, shown, facts }, place) => {
    const differs = (key) => !panels[1 - place].facts.has(key);
    for (const mark of shown.querySelectorAll("[data-fact]")) {
      mark.classList.toggle("differs", differs(mark.dataset.fact.split("\n")[0]));
    }
    const judged = (key) => gold && (gold.facts.has(key) ? h("span.badge.good", "right") : h("span.badge.poor", "wrong"));
    const own = [...facts].filter(([key]) => differs(key)).map(([key, words]) =>
      h("li", h("span", { dir: "auto" }, words), judged(key)));
    const more = own.splice(LISTED).length;
    return { count: own.length, shown: h("div", h("h3", "Only ", h("bdi", name)),
      h("ul", own.length ? own : h("li", "nothing"), more ? h("li", `and ${more} more`) : null)) };
  });
  return h("section.card.differences", columns.some((one) => one.count) ? [h("h2", "The answers differ"),
    h("div.pair", columns.map((one) => one.shown))] : h("h2", "The answers are the same"));
}

function show(names, results, input) {
  const [good, bad] = ["fulfilled", "rejected"].map((status) =>
    results.map((one, place) => ({ name: names[place], ...one })).filter((one) => one.status === status));
  const gold = goldOf(input);
  const panels = good.map((one) => panel(one, gold));
  const said = good.map(({ name, value }) => `${name}: ${sayAnswer(value)}.`);
  const compared = panels[1] ? differences(panels, gold) : null;
  $("message").append([...new Set(bad.map(({ reason }) => reason.message))].join(" "));
  $("status").textContent = [...said, compared ? `${compared.firstChild.textContent}.` : ""].join(" ");
  if (!panels.length) return;  // the last answers stay
  $("answers").replaceChildren(...[compared, gold ? goldPanel(gold) : null, ...panels.map((one) => one.shown)].filter(Boolean));
}

// ---- The examples, and what models answer to them
const answered = new Map();  // promises of answers to examples
function askOnce(name, body) {
  const key = `${name}\n${body}`;
  if (!answered.has(key)) {
    answered.set(key, ask(name, body));
    answered.get(key).catch(() => answered.delete(key));
  }
  return answered.get(key);
}

const readable = (words) => words.join(" ").replace(/ ([.,;:!?)]|'s\b|n't\b)/g, "$1");
/** What an example is called: its short texts, or else its first sentence. */
function nameOf(input) {
  const long = VIEWS[view].fields.filter(([, , rows]) => rows > 2).map(([key]) => key);
  const words = VIEWS[view].words.filter(([, , , kind]) => kind === "lines").map(([key]) => key);
  const parts = Object.entries(input).filter(([key, value]) => !long.includes(key) && !words.includes(key)
    && (typeof value === "string" || typeof value?.[0] === "string")).map(([, value]) => [value].flat());
  if (parts.length) return parts.map(readable).join(" → ");
  const sentences = Object.values(input)[0];
  if (typeof sentences === "string") return sentences;
  return `${readable(sentences[0])} (and ${counted(sentences.length - 1, "more sentence")})`;
}

/** The facts of an answer, null if there is none or it cannot be drawn. */
function answerFacts({ value }) {
  try {
    return factsOf(h("div", drawn(value)));
  } catch {
    return null;
  }
}

/** The facts that only one of two answers has. */
const unlike = ([one, two]) => one && two ? [...one.keys()].filter((key) => !two.has(key)).length
  + [...two.keys()].filter((key) => !one.has(key)).length : 0;

/** The scores of the models' runs, which say more than a few examples do. */
function scoresOf(models) {
  const metric = VIEWS[view].metric === "f1" ? "F1" : VIEWS[view].metric;
  return ["test", "validation"].map((data) => {
    const known = models.filter((model) => model.scores[data] != null);
    return known.length ? h("p.soft", `${metric} on all ${data} data: `, known.map(({ name, scores }, place) =>
      [place ? ", " : "", h("bdi", name), " ", h("b", scores[data])])) : null;
  });
}

/** Fills the table of the examples, one after the other, and opens one of them if no input is shown. */
async function showExamples() {
  const names = chosenNames();
  const { examples } = VIEWS[view];
  const withGold = examples.some((one) => one.gold);
  const heads = withGold ? names : names.length > 1 ? ["Differences"] : [];
  const rows = examples.map((example) => {
    const button = h("button", { type: "button", dir: "auto", "aria-pressed": false,
      onclick: () => { choose(example.input); run({ scroll: true }); } }, nameOf(example.input));
    return { ...example, button, cells: heads.map(() => h("td", "…")) };
  });
  const totals = heads.map(() => h("td", "…"));
  chosen = rows;
  const [one, two] = names.map(modelNamed);
  const title = two && !one.mix?.length !== !two.mix?.length ? "What ELMo changes" : "Examples";
  $("examples-title").textContent = rows.length ? title : "Scores";
  const { source } = VIEWS[view];
  $("examples-about").textContent = rows.length ? `${counted(rows.length, "text")}${
    source ? ` of ${source}.` : ", taken at regular intervals from the synthetic test data."}${
    two ? " The page opens with the first on which the answers differ." : ""}` : "";
  $("examples").replaceChildren(rows.length ? h("table.examples", heads.length ? h("thead", h("tr", h("th", { scope: "col" }, "Text"),
    heads.map((name) => h("th", { scope: "col", dir: "auto" }, name)))) : null,
  h("tbody", rows.map((row) => h("tr", h("th", { scope: "row" }, row.button), row.cells))),
  withGold ? h("tfoot", h("tr", h("th", { scope: "row" }, "All together"), totals)) : null) : "");
  $("scores").replaceChildren(...scoresOf([one, two].filter(Boolean)).filter(Boolean));
  $("overview").hidden = !rows.length && !$("scores").childElementCount;
  const scores = heads.map(() => []);
  for (const { input, gold: known, cells } of rows) {
    const body = JSON.stringify(input);
    const results = await Promise.allSettled(names.map((name) => askOnce(name, body)));
    if (chosen !== rows) return;  // other models, or another task
    const facts = results.map(answerFacts), differ = unlike(facts);
    const gold = withGold && known ? goldOf(input) : null;
    cells.forEach((cell, place) => {
      if (!withGold) return cell.replaceChildren(differ ? `${differ}` : "none");
      if (!gold) return cell.replaceChildren("");
      if (!facts[place]) return cell.replaceChildren("error");
      const score = scored(facts[place], gold);
      scores[place].push(score);
      cell.replaceChildren(badge(score, inLines(saidScore(score))));
    });
    if (differ && $("form").hidden) openWith(input);
  }
  totals.forEach((cell, place) => cell.replaceChildren(scores[place].length ? h("div", inLines(saidCounts(sum(scores[place])))) : ""));
  if (!$("form").hidden) return;
  if (rows.length) return openWith(rows[0].input);
  build(["text", "words"].find((kind) => fieldsOf(kind).length), {});
  $("form").hidden = false;
}

// ---- The form and the link
let served, view, form, controller;  // GET /api/models; its task; the kind of the input; the last request
let chosen = [];  // the rows of the examples
let filled = [], isKindChosen = false;  // the texts that an example or link has put into the form; whether the user chose its kind

const modelNamed = (name) => served.models.find((model) => model.name === name);
const modelsOf = (name) => served.models.filter((model) => model.task === name);
const sorted = (input) => JSON.stringify(Object.entries(input ?? "").sort());
const parsed = (text) => { try { return JSON.parse(text); } catch { return text; } };
const pieces = (text, between) => text.split(between).filter(Boolean);
/** Between the value of a key and its text, by the kind of the text. */
const READ = {
  text: (text) => text,
  line: (text) => text,
  words: (text) => pieces(text, /[ \t\n]+/),
  lines: (text) => pieces(text, "\n").map(READ.words),
  texts: (text) => pieces(text, "\n"),
  numbers: (text) => text.trim() ? pieces(text, /[ ,\t\n]+/).map(Number) : undefined,
};
const WRITE = {
  text: (value) => value,
  line: (value) => value,
  words: (value) => value?.join(" "),
  lines: (value) => value?.map(WRITE.words).join("\n"),
  texts: (value) => value?.join("\n"),
  numbers: (value) => value?.join(" "),
};
/** The fields of a form: key, name, rows and kind of each. */
const fieldsOf = (kind) => ({ text: VIEWS[view].fields, words: VIEWS[view].words,
  JSON: [["JSON", "Request", 5, "text"]] })[kind];
const values = () => Object.fromEntries(fieldsOf(form).map(([key, , , kind]) => [key, READ[kind]($(`field-${key}`).value)]));
const current = () => form === "JSON" ? values().JSON : JSON.stringify(values());

const writtenTexts = () => fieldsOf(form).map(([key]) => $(`field-${key}`).value);

/** The fields of a form with this input. */
function build(kind, input) {
  form = kind;
  const kinds = ["text", "words", "JSON"].filter((one) => fieldsOf(one).length);
  const onchange = ({ target }) => { isKindChosen = true; change(target.value); };
  if ($("modes").childElementCount !== kinds.length) {  // else the one with the focus stays
    $("modes").replaceChildren(...kinds.map((value) =>
      h("label", h("input", { type: "radio", name: "mode", value, onchange }), value)));
  }
  for (const radio of $("modes").querySelectorAll("input")) radio.checked = radio.value === kind;
  $("fields").replaceChildren(...fieldsOf(kind).map(([key, name, rows]) => h("div",
    h("label", { for: `field-${key}` }, name),
    h("textarea", { id: `field-${key}`, rows, "--rows": rows, dir: "auto", spellcheck: "false" }))));
  for (const [key, , , sort] of fieldsOf(kind)) $(`field-${key}`).value = WRITE[sort](input[key]) ?? "";
}

/** Whether a form of this kind can express all of an input, which it then has. */
function fits(kind, input) {
  try {
    build(kind, input);
    return sorted(JSON.parse(current())) === sorted(input);
  } catch {  // it is no object
    return false;
  }
}

/** Shows an input as text or words if these can express all of it, else as JSON. */
function fill(input) {
  for (const kind of ["text", "words"]) if (fieldsOf(kind).length && fits(kind, input)) return;
  build("JSON", { JSON: typeof input === "string" ? input : JSON.stringify(input) });
}

/** The same input in a form of another kind: text becomes words at its blanks, and words text. */
function change(kind) {
  const body = current(), texts = writtenTexts();
  if (kind === "JSON") return build("JSON", { JSON: body });
  if (form === "JSON") return fits(kind, parsed(body)) || build("JSON", { JSON: body });
  build(kind, {});
  fieldsOf(kind).forEach(([key], place) => { if (texts[place]) $(`field-${key}`).value = texts[place]; });
}

/** Words that were typed become text, unless punctuation stands alone in them or numbers of words were typed, too. */
function readTyped() {
  if (form !== "words" || isKindChosen || !fieldsOf("text").length) return;
  const texts = writtenTexts(), typed = fieldsOf("words").map(([, , , kind], place) => ({ kind, text: texts[place] }))
    .filter(({ text }, place) => text !== filled[place]);
  const isWords = ({ kind, text }) => kind === "numbers" || /(^|\s)[^\p{L}\p{N}\s]+(\s|$)/u.test(text);
  if (!typed.length || typed.some(isWords)) return;
  const had = document.activeElement, place = fieldsOf("words").findIndex(([key]) => had === $(`field-${key}`));
  change("text");
  if (place < 0) return;
  const field = $(`field-${fieldsOf("text")[place][0]}`);
  field.focus();
  field.setSelectionRange(had.selectionStart, had.selectionEnd);
}

async function run({ first = false, scroll = false } = {}) {
  const names = chosenNames(), body = current(), input = parsed(body);
  const link = `#${new URLSearchParams({ view, model: names[0], ...names[1] && { with: names[1] }, input: body })}`;
  if (link !== location.hash && link.length < 1e6) history[first ? "replaceState" : "pushState"](null, "", link);
  controller?.abort();
  const { signal } = controller = new AbortController();
  if (!first) $("message").textContent = "";
  $("answers").setAttribute("aria-busy", "true");
  const row = chosen.find((one) => sorted(one.input) === sorted(input));
  for (const one of chosen) one.button.setAttribute("aria-pressed", one === row);
  const asked = names.map((name) => row ? askOnce(name, JSON.stringify(row.input)) : ask(name, body, signal));
  const results = await Promise.allSettled(asked);
  if (signal.aborted) return;
  $("answers").removeAttribute("aria-busy");
  show(names, results, input);
  const { top } = $("answers").getBoundingClientRect();
  if (scroll && results.some((one) => one.status === "fulfilled") && (top < 0 || top > 0.8 * innerHeight)) $("answers").scrollIntoView();
}

/** Shows an input in the form. */
function choose(input) {
  fill(input);
  filled = writtenTexts();
  isKindChosen = false;
  $("form").hidden = false;
}

function openWith(input) {
  choose(input);
  run({ first: true });
}

const chosenNames = () => [$("model").value, $("other").value].filter(Boolean);

/** The models that the chosen one can be compared with: all others. */
function offerOthers(chosen) {
  const names = modelsOf(view).map((model) => model.name).filter((name) => name !== $("model").value);
  $("other").replaceChildren(...["", ...names].map((value) => h("option", { value, selected: value === chosen }, value || "none")));
}

/** Shows the task, models and input of the link. */
function open() {
  const link = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const tabs = Object.keys(VIEWS).filter((name) => modelsOf(name).length);
  view = tabs.includes(link.view) ? link.view : tabs[0];
  const { title, about, limits } = VIEWS[view], models = modelsOf(view).map((model) => model.name);
  document.title = `${title} · elmo-tasks`;
  [$("title").textContent, $("about").textContent] = [title, about];
  const most = Object.entries({ bytes: served.limits.bytes, ...limits });
  $("limit").textContent = `An input has at most ${most.map(([what, count]) =>
    `${count.toLocaleString("en")} ${what}`).join(", ")}.`;
  $("views").replaceChildren(...tabs.map((name) => h("li", h("a", { href: `#view=${name}`,
    "aria-current": name === view && "page" }, VIEWS[name].title))));
  const [plain, elmo, more] = [...modelsOf(view)].sort((one, two) => !!one.mix?.length - !!two.mix?.length);
  const pair = !plain.mix?.length && elmo?.mix?.length && !more;  // one of each
  if (pair && !link.model) [link.model, link.with] = [plain.name, elmo.name];
  $("model").replaceChildren(...models.map((value) => h("option", { value, selected: value === link.model }, value)));
  offerOthers(link.with);
  $("other").disabled = models.length < 2;
  const unknown = [link.model, link.with].filter((one) => one && !models.includes(one));
  $("answers").replaceChildren();
  $("message").textContent = "";
  $("status").textContent = "";
  $("form").hidden = true;
  if (link.input != null) openWith(parsed(link.input));
  showExamples();
  if (unknown.length) $("message").textContent = `This server has no ${unknown.join(" and no ")}. `;
}

const response = await fetch("/api/models").catch((error) => ({ statusText: error.message }));
if (response.ok) {
  served = await response.json();
  for (const [task, page] of Object.entries(served.tasks)) {
    const isText = ([, , , kind]) => kind === "text";
    const fields = page.boxes.filter(isText), words = page.boxes.filter((box) => !isText(box));
    VIEWS[task] = { ...DRAWINGS[page.drawing], ...page, fields, words };
  }
  $("ready").hidden = false;
  const submit = (event) => { event.preventDefault(); readTyped(); run({ scroll: true }); };
  $("form").addEventListener("submit", submit);
  $("form").addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing
    && (event.ctrlKey || event.metaKey || event.target.rows === 1) && submit(event));
  const compare = () => { showExamples(); if (!$("form").hidden && writtenTexts().some(Boolean)) run(); };
  $("model").addEventListener("change", () => { offerOthers($("other").value); compare(); });
  $("other").addEventListener("change", compare);
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
  addEventListener("hashchange", open);
  open();
} else $("problem").textContent = `The server does not list its models (${response.statusText}). Reload the page.`;
