// The page of `elmo-tasks serve`. Texts of users and models enter the document as text nodes only.

const LISTED = 12;  // what is drawn at most
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
const verdict = ({ label, probabilities }) => [h("p.verdict", { "--hue": hueOf(label) }, label),
  bars("Probability", Object.entries(probabilities).map(([name, value]) =>
    ({ name, value, hue: hueOf(name), fact: name === label ? `${label}\n${label}, ${number(value)}` : null })))];
const scrolling = (name, child) => h("div.scroll", { role: "region", "aria-label": name, tabindex: 0 }, child);

// ---- The tasks. A fact, "key\nwords", is what two models are compared by: they differ if one has the key alone.
const keyOf = (one) => [one.token_start, one.token_end, one.label ?? one.type];
const drawFrames = ({ tokens, frames }, input) => frames.map((frame) => [h("h3", { dir: "auto" }, frame.verb),
  marked(...located(tokens, input.sentence, frame.arguments.map((one) => ({ ...one, hue: hueOf(one.label),
    fact: `${[frame.predicate, keyOf(one)]}\n${frame.verb}: ${one.label} ${quoted(one.text)}` }))))]);

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

function drawAnswer({ n_best: answers, question }, input) {
  const passage = h("div"), share = (one) => h("span.number", number(one.probability));
  const buttons = answers.map((one, place) => h("button", { type: "button", "--share": one.probability,
    onclick: () => choose(place) }, h("bdi", one.text), share(one)));
  const choose = (place) => {
    const one = answers[place], fact = place ? null : `${[one.start, one.end]}\n${quoted(one.text)}`;
    passage.replaceChildren(marked(input.passage, [{ ...one, hue: 150, fact }]));
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === place));
  };
  choose(0);
  return [h("p.question", { dir: "auto" }, question), passage, h("h3", "Best answers and their probabilities"),
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
const best = ({ label, probabilities }) => `${label}, ${number(probabilities[label])}`;
/** By the `drawing` of a task; `said` sums up an output. */
const DRAWINGS = {
  entities: { draw: drawEntities, said: ({ entities }) => counted(entities.length, "entity", "entities") },
  frames: { draw: drawFrames, said: ({ frames }) => counted(frames.length, "frame") },
  clusters: { draw: drawClusters, said: ({ clusters }) =>
    `${counted(clusters.length, "cluster")}, ${counted(clusters.flat().length, "mention")}` },
  answer: { draw: drawAnswer, said: ({ text, probability }) => `${quoted(text)}, ${number(probability)}` },
  attention: { draw: drawAttention, said: best },
  verdict: { draw: verdict, said: best },
  tags: { draw: drawTags, said: ({ tokens }) => counted(tokens.length, "word") },
  score: { draw: ({ score }) => h("p.verdict", number(score)), said: ({ score }) => number(score) },
};
/** The tabs by name: a drawing, and `title`, `about` and `fields` (key, name and rows of each text) of a record. */
const VIEWS = {};
// ---- Answers
/** What the server answers: { path, body, text, output }. Raises an `Error` in words. */
async function ask(name, body, signal) {
  const path = `/api/predict/${encodeURIComponent(name)}`;
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body, signal };
  const response = await fetch(path, request).catch(() => { throw new Error("The server does not answer."); });
  const text = await response.text();
  if (response.ok) return { path, body, text, output: JSON.parse(text) };
  throw new Error(parsed(text).error ?? response.statusText);
}

/** The exact answer, and the command that gets it. */
function sources({ path, body, text }) {
  const shell = (part) => `'${part.replaceAll("'", "'\\''")}'`;
  const command = `curl -s -H 'Content-Type: application/json' -d ${shell(body)} ${shell(location.origin + path)}`;
  return [["JSON", text], ["curl", command]].map(([name, content]) => {
    const shown = h("pre", { tabindex: 0, "aria-label": name });
    return h("details", { ontoggle: () => { shown.textContent = content; } }, h("summary", name), shown);
  });
}
const mixOf = ({ mix }) => mix && h("aside.mix", h("h3", "ELMo mix"), mix.length ? mix.map(({ at, gamma, weights }) =>
  bars(`at the ${at}, γ ${number(gamma)}`, weights.map((value, k) => ({ name: `layer ${k}`, value, hue: 28 }))))
  : h("p.soft", "This model has no ELMo."));

function panel(name, answer) {
  const { output, body } = answer;
  let drawing;
  try {
    drawing = VIEWS[view].draw(output, JSON.parse(body));
  } catch (error) {
    drawing = h("p.note", `This answer cannot be drawn (${error.message}). Its JSON is below.`);
  }
  return h("article.card", { "aria-label": name }, h("h2", { dir: "auto" }, name),
    h(`div.beside.${view}`, h("div.drawing", drawing), mixOf(modelsOf(view).find((model) => model.name === name))),
    h("div.sources", sources(answer)));
}

/** Marks what only one of two panels has, and says it. */
function differences(names, panels) {
  const marks = panels.map((one) => [...one.querySelectorAll("[data-fact]")]);
  const facts = marks.map((own) => new Map(own.map((mark) => mark.dataset.fact.split("\n"))));
  const columns = names.map((name, place) => {
    const differs = (key) => !facts[1 - place].has(key);
    for (const mark of marks[place]) mark.classList.toggle("differs", differs(mark.dataset.fact.split("\n")[0]));
    const own = [...facts[place]].filter(([key]) => differs(key)).map(([, words]) => h("li", { dir: "auto" }, words));
    const more = own.splice(LISTED).length;
    return { count: own.length, shown: h("div", h("h3", "Only ", h("bdi", name)),
      h("ul", own.length ? own : h("li", "nothing"), more ? h("li", `and ${more} more`) : null)) };
  });
  return h("section.card.differences", columns.some((one) => one.count) ? [h("h2", "The answers differ"),
    h("div.pair", columns.map((one) => one.shown))] : h("h2", "The answers are the same"));
}

function show(names, results) {
  const [good, bad] = ["fulfilled", "rejected"].map((status) =>
    results.map((one, place) => ({ name: names[place], ...one })).filter((one) => one.status === status));
  const panels = good.map(({ name, value }) => panel(name, value));
  const said = good.map(({ name, value }) => `${name}: ${VIEWS[view].said(value.output)}.`);
  const compared = panels[1] ? differences(names, panels) : h("section", { hidden: true });
  $("message").append([...new Set(bad.map(({ reason }) => reason.message))].join(" "));
  $("status").textContent = [...said, compared.firstChild ? `${compared.firstChild.textContent}.` : ""].join(" ");
  $("answers").replaceChildren(compared, h(panels[1] ? `div.pair.${view}` : "div", panels));
}

// ---- The form and the link
let served, view, form, controller;  // GET /api/models; its task; "text" or "JSON"; the last request

const modelsOf = (name) => served.models.filter((model) => model.task === name);
const texts = () => Object.fromEntries(VIEWS[view].fields.map(([key]) => [key, $(`field-${key}`).value]));
const current = () => form === "JSON" ? $("field-JSON").value
  : JSON.stringify(texts());
const sorted = (input) => JSON.stringify(Object.entries(input).sort());
const parsed = (text) => { try { return JSON.parse(text); } catch { return text; } };

/** The fields of a form with these texts. */
function build(kind, values) {
  form = kind;
  const onchange = () => form === "JSON" ? fill(parsed(current())) : build("JSON", { JSON: current() });
  $("modes").replaceChildren(...["text", "JSON"].map((value) =>
    h("label", h("input", { type: "radio", name: "mode", value, checked: value === kind, onchange }), value)));
  const shown = kind === "JSON" ? [["JSON", "Request", 5]] : VIEWS[view].fields;
  $("fields").replaceChildren(...shown.map(([key, name, rows]) => h("div",
    h("label", { for: `field-${key}` }, name),
    h("textarea", { id: `field-${key}`, rows, dir: "auto", spellcheck: "false" }))));
  for (const [key] of shown) $(`field-${key}`).value = values[key] ?? "";
}

/** Shows an input as text if that can express all of it, else as JSON. */
function fill(input) {
  try {
    build("text", input);
    if (sorted(JSON.parse(current())) === sorted(input)) return;
  } catch { /* it is no object */ }
  build("JSON", { JSON: typeof input === "string" ? input : JSON.stringify(input) });
}

async function run(first = false) {
  const names = [$("model").value, $("other").value].filter(Boolean), body = current();
  const link = `#${new URLSearchParams({ view, model: names[0], ...names[1] && { with: names[1] }, input: body })}`;
  if (link !== location.hash && link.length < 1e6) history[first ? "replaceState" : "pushState"](null, "", link);
  controller?.abort();
  const { signal } = controller = new AbortController();
  $("message").textContent = "";
  $("answers").setAttribute("aria-busy", "true");
  const asked = names.map((name) => ask(name, body, signal));
  const results = await Promise.allSettled(asked);
  if (signal.aborted) return;
  $("answers").removeAttribute("aria-busy");
  show(names, results);
}

/** Shows the task, models and input of the link. */
function open() {
  const link = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const tabs = Object.keys(VIEWS).filter((name) => modelsOf(name).length);
  view = tabs.includes(link.view) ? link.view : tabs[0];
  const { title, about, fields, limits } = VIEWS[view], models = modelsOf(view).map((model) => model.name);
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
  for (const [id, names, chosen] of [["model", models, link.model], ["other", ["", ...models], link.with]]) {
    $(id).replaceChildren(...names.map((value) => h("option", { value, selected: value === chosen }, value || "none")));
  }
  $("other").disabled = models.length < 2;
  const examples = modelsOf(view).find((one) => one.name === $("model").value).examples;
  const name = (example) => [example[fields.at(-1)[0]] ?? Object.values(example)[0]].flat(2).join(" ");
  $("examples").replaceChildren(...examples.slice(0, 6).map((example) => h("button", { type: "button", dir: "auto",
    onclick: () => { fill(example); run(); } }, name(example))));
  fill(link.input == null ? examples[0] ?? {} : parsed(link.input));
  run(link.input == null);
  const unknown = [link.model, link.with].filter((one) => one && !models.includes(one));
  if (unknown.length) $("message").textContent = `This server has no ${unknown.join(" and no ")}. `;
}

const response = await fetch("/api/models").catch((error) => ({ statusText: error.message }));
if (response.ok) {
  served = await response.json();
  for (const [task, page] of Object.entries(served.tasks)) VIEWS[task] = { ...DRAWINGS[page.drawing], ...page };
  $("ready").hidden = false;
  const submit = (event) => { event.preventDefault(); run(); };
  $("form").addEventListener("submit", submit);
  $("form").addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing
    && (event.ctrlKey || event.metaKey || event.target.rows === 1) && submit(event));
  for (const id of ["model", "other"]) $(id).addEventListener("change", () => run());
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
  addEventListener("hashchange", open);
  open();
} else $("problem").textContent = `The server does not list its models (${response.statusText}). Reload the page.`;
