// The page page.html: sentences -> elmo.js -> for each layer and their mix, a drawing and the nearest words.
"use strict";

const LAYERS = [0, 1, 2], NEIGHBOURS = 8;
// Words and signs of punctuation; "n't" and "'s" are words, as in the training text.
const WORDS = /n't\b|'(?:s|ll|re|ve|d|m)\b|[^\s\p{P}]+?(?=n't\b)|[^\s\p{P}]+(?:[-.][^\s\p{P}]+)*|\p{P}/giu;
const MARKS = ["M-.03 0a.03 .03 0 1 0 .06 0a.03 .03 0 1 0 -.06 0z", "M-.03-.03h.06v.06h-.06z", "M0-.04l.04 .07h-.08z",
  "M0-.045l.045 .045l-.045 .045l-.045-.045z"];
const $ = (id) => document.getElementById(id);
// Of a drawing, in its own units: size, margin, radius of a mark, size of a digit of a label.
const WIDTH = 320, HEIGHT = 240, MARGIN = 28, RADIUS = 6, DIGIT = 8, LINE = 13;
let worker, common = [], request = { id: 0 }, tokens = [], chosen = {}, views = [];

function element(name, attributes, ...children) {
  const space = ["svg", "g", "line", "path", "text", "title"].includes(name) ? "2000/svg" : "1999/xhtml";
  const made = document.createElementNS(`http://www.w3.org/${space}`, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function tell(text, isError = false) {
  Object.assign($("status"), { textContent: text, className: isError ? "error" : "" });
  $("progress").hidden = true;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const dot = (x, y) => x.reduce((total, value, k) => total + value * y[k], 0);
const scaled = (x, factor) => x.map((value) => factor * value);
const unit = (x) => scaled(x, 1 / (Math.sqrt(dot(x, x)) || 1));

function weightedSum(weights, vectors) {
  const total = new Float32Array(vectors[0].length);
  vectors.forEach((x, n) => x.forEach((value, k) => { total[k] += weights[n] * value; }));
  return total;
}

// The first two principal components of vectors, by power iteration, as two lists of coordinates.
function principal(vectors) {
  const mean = weightedSum(vectors.map(() => 1 / vectors.length), vectors);
  let rest = vectors.map((x) => weightedSum([1, -1], [x, mean]));
  return [0, 1].map(() => {
    let axis = unit(mean.map((_, k) => Math.sin(k + 1)));
    for (let step = 0; step < 40; step++) axis = unit(weightedSum(rest.map((x) => dot(x, axis)), rest));
    const places = rest.map((x) => dot(x, axis));
    rest = rest.map((x, n) => weightedSum([1, -places[n]], [x, axis]));
    return scaled(places, places[0] > 0 ? -1 : 1);  // the first vector is at the left and the top
  });
}

function read() {
  const lines = $("text").value.split(/\n\s*\n/).flatMap((part, group) =>
    part.split("\n").map((line) => ({ words: line.match(WORDS), group }))).filter(({ words }) => words);
  request = { id: request.id + 1, lines, word: $("new").value.trim(), began: performance.now() };
  worker.postMessage({ id: request.id, sentences: [...lines.map(({ words }) => words), [request.word]] });
}

function receive({ data: { progress, words, vectors, id, layers, error } }) {
  if (progress) $("progress").value = progress;
  if (error) tell(error, true);
  if (words) {
    request.began = performance.now();
    const width = vectors.length / words.length;
    common = words.map((word, k) => ({ word, unit: unit(vectors.subarray(k * width, (k + 1) * width)) }));
  }
  if (layers && id === request.id) show(layers);
}

function show(answers) {
  const { lines, word, began } = request;
  tokens = lines.flatMap((line, sentence) => line.words.map((word, place) => {
    const layers = LAYERS.map((depth) => vectorAt(answers[sentence], line.words.length, depth, place));
    return { ...line, word, place, sentence, layers };
  }));
  tell(`${tokens.length} words read in ${Math.round(performance.now() - began)} ms.`);
  showWords(lines);
  const same = tokens.filter((one) => one.word === chosen.word);
  choose(same.find(({ sentence }) => sentence === chosen.sentence) ?? same[0] ?? tokens[0] ?? {});
  const contextFree = (vector) => unit(vector.subarray(0, vector.length / 2));  // layer 0 is it twice
  const typed = tokens.map((token) => ({ word: token.word, unit: contextFree(token.layers[0]) }));
  const others = new Map([...typed, ...common].map((one) => [one.word, one]));  // each word once
  others.delete(word);
  showNearest($("nearest"), word && contextFree(vectorAt(answers.at(-1), 1, 0, 0)), [...others.values()]);
}

// The vector [2P] of a token in layers [L+1, T, 2P].
function vectorAt(layers, length, depth, place) {
  const size = layers.length / LAYERS.length / length, start = (depth * length + place) * size;
  return layers.subarray(start, start + size);
}

const mark = (group) => element("path", { d: MARKS[group % 4], class: `mark${group % 4}` });

function showWords(lines) {
  for (const token of tokens) {
    token.button = element("button", {}, token.word);
    token.button.onclick = () => choose(token);
  }
  $("sentences").replaceChildren(...lines.map(({ group }, number) => element("li", {},
    element("svg", { viewBox: "-.05 -.05 .1 .1", "aria-hidden": true }, mark(group)),
    ...tokens.filter(({ sentence }) => sentence === number).flatMap(({ button }) => [" ", button]))));
}

function choose(token) {
  chosen = token;
  for (const one of tokens) one.button.setAttribute("aria-pressed", one === chosen);
  for (const depth of LAYERS) showView(depth, ({ layers }) => layers[depth]);
  showMix();
}

// Eq. 1 with the weights and gamma of the sliders.
function showMix() {
  const powers = LAYERS.map((depth) => Math.exp($(`w${depth}`).value)), gamma = Number($("gamma").value);
  const s = scaled(powers, 1 / sum(powers)), mix = ({ layers }) => weightedSum(scaled(s, gamma), layers);
  LAYERS.forEach((depth) => { $(`s${depth}`).textContent = s[depth].toFixed(2); });
  $("gamma-value").textContent = gamma.toFixed(2);
  $("length").textContent = chosen.layers ? Math.sqrt(dot(mix(chosen), mix(chosen))).toFixed(2) : "";
  showView(LAYERS.length, mix);
  drawAll();
}

// Captions and nearest words of a layer or the mix; the places of its marks are for drawAll.
function showView(number, vectorOf) {
  const view = $("views").children[number];
  const points = tokens.map((token) => ({ ...token, token, unit: unit(vectorOf(token)) }));
  const drawn = points.filter(({ word }) => $("all").checked || word === chosen.word);
  const self = points.find(({ token }) => token === chosen), others = points.filter((point) => point !== self);
  const [x, y] = drawn.length ? principal(drawn.map((point) => point.unit)) : [[], []];
  views[number] = { svg: view.querySelector("svg"), drawn, x: centred(x), y: centred(y) };
  view.querySelector("figcaption").textContent = meanCosines(drawn);
  showNearest(view.querySelector("table"), self?.unit, others);
}

function centred(values) {
  const middle = (Math.min(...values) + Math.max(...values)) / 2;
  return values.map((value) => value - middle);
}

// All drawings in one scale, in which the largest fills its canvas.
function drawAll() {
  const largest = (axis) => Math.max(1e-6, ...views.flatMap((view) => view[axis].map(Math.abs)));
  const scale = Math.min((WIDTH / 2 - MARGIN) / largest("x"), (HEIGHT / 2 - MARGIN) / largest("y"));
  for (const { svg, drawn, x, y } of views) {
    const points = drawn.map((point, k) => ({ ...point, x: WIDTH / 2 + scale * x[k], y: HEIGHT / 2 + scale * y[k] }));
    const labels = $("all").checked ? [] : placeLabels(points);
    svg.replaceChildren(...labels.flatMap(leader), ...points.map((point, k) => markOf(point, labels[k])));
  }
}

function markOf({ token, word, words, group, x, y }, label) {
  const made = element("g", { class: token === chosen ? "chosen" : "" },
    element("title", {}, `${word}: ${words.join(" ")}`),
    element("g", { transform: `translate(${x} ${y}) scale(${RADIUS / 0.036})` }, mark(group)));
  if (label) made.append(element("text", { x: label.x, y: label.y }, label.text));
  made.onclick = () => choose(token);
  return made;
}

// A place for the number of each point's sentence: the nearest one that is free, in rings around the point.
function placeLabels(points) {
  const taken = points.map(({ x, y }) => ({ x, y, width: 2 * RADIUS, height: 2 * RADIUS }));
  return points.map((point) => {
    const text = String(point.sentence + 1), size = { width: DIGIT * text.length + 2, height: LINE };
    const places = rings(point, size);
    const label = { ...(places.find((place) => isFree(place, taken)) ?? places[0]), text, point };
    taken.push(label);
    return label;
  });
}

function rings(point, size) {
  const places = [];
  for (let distance = RADIUS + 7; distance < WIDTH / 2; distance += 7) {
    for (let step = 0; step < 16; step++) {
      const angle = step * Math.PI / 8;
      places.push({ ...size, x: point.x + distance * Math.cos(angle), y: point.y + distance * Math.sin(angle), distance });
    }
  }
  return places;
}

const isInside = ({ x, y, width, height }) =>
  x > width / 2 && x < WIDTH - width / 2 && y > height / 2 && y < HEIGHT - height / 2;
const meet = (one, other) => 2 * Math.abs(one.x - other.x) < one.width + other.width &&
  2 * Math.abs(one.y - other.y) < one.height + other.height;
const isFree = (place, taken) => isInside(place) && !taken.some((other) => meet(place, other));

// A line from a point to a label that is far from it.
function leader({ x, y, distance, point }) {
  return distance > RADIUS + 21 ? [element("line", { x1: point.x, y1: point.y, x2: x, y2: y })] : [];
}

function meanCosines(points) {
  const pairs = points.flatMap((one, k) => points.slice(0, k).map((other) =>
    ({ isWithin: one.group === other.group, cosine: dot(one.unit, other.unit) })));
  const mean = (isWithin) => {
    const cosines = pairs.filter((pair) => pair.isWithin === isWithin).map(({ cosine }) => cosine);
    return cosines.length ? (sum(cosines) / cosines.length).toFixed(2) : "no pair";
  };
  return `Mean cosine within groups: ${mean(true)}, between groups: ${mean(false)}`;
}

function showNearest(table, vector, others) {
  const found = vector ? others.map((other) => [dot(vector, other.unit), other]) : [];
  const nearest = found.sort(([one], [other]) => other - one).slice(0, NEIGHBOURS);
  const context = (words) => element("span", {}, words.join(" "));
  table.tBodies[0].replaceChildren(...nearest.map(([cosine, { word, words = [], place }]) => element("tr", {},
    element("td", {}, cosine.toFixed(2)),
    element("td", {}, context(words.slice(Math.max(0, place - 3), place)), " ", element("b", {}, word), " ",
      context(words.slice(place + 1, place + 4))))));
}

function open() {
  if (location.protocol === "file:") return tell("A browser cannot load the model from a file. Run " +
    "“python -m http.server” in the folder of the site, then open http://localhost:8000/browser/.", true);
  worker = new Worker("elmo.js");
  worker.onmessage = receive;
  worker.onerror = (event) => tell(event.message || "elmo.js cannot be loaded.", true);
  let timer;
  $("text").oninput = $("new").oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(read, 200);
  };
  $("all").onchange = () => choose(chosen);
  $("sliders").oninput = showMix;
  for (const button of document.querySelectorAll("button[value]")) button.onclick = () => {
    $("text").value = button.value;
    chosen = { word: button.textContent };
    read();
  };
  $("play").click();
  navigator.serviceWorker?.register("sw.js")
    .catch((error) => tell(`The page is not kept for use offline. ${error.message}`, true));
}

open();
