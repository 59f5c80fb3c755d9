// The embedded biLM in typed arrays, as a worker: {id, sentences: [[word]]} -> {id, layers: [[L+1, T, 2P]]}, or
// {id, error}. The reference is elmo_tasks/bilm; export.py writes the weights.
"use strict";

const BEGIN_WORD = 258, END_WORD = 259, PADDING = 260;
const BOUNDARIES = { __proto__: null, "<S>": [256], "</S>": [257] };
const MOST_CACHED = 1000, FORGET_BIAS = 1;
const weights = {}, vectors = new Map(), sentenceLayers = new Map();
let options;

// The value of each float16 number, infinities apart: not every browser has Float16Array.
const HALVES = Float32Array.from({ length: 65536 }, (_, bits) => {
  const exponent = bits >> 10 & 31, fraction = bits & 1023;
  return (bits >> 15 ? -1 : 1) * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
});

async function load() {
  const model = await (await get("model.json")).json(), url = `model.bin?${model.sha256}`;
  const cache = await self.caches?.open("elmo-model"), kept = await cache?.match(url);
  const bytes = kept ? await kept.arrayBuffer() : await download(url, model);
  const halves = new Uint16Array(bytes);
  let start = 0;
  for (const [name, shape] of Object.entries(model.tensors)) {
    const size = shape.reduce((product, length) => product * length);
    const values = Float32Array.from(halves.subarray(start, start += size), (bits) => HALVES[bits]);
    weights[name] = { values, rows: shape[0], columns: size / shape[0] };
  }
  options = { ...model.char_cnn, ...model.lstm };
  postMessage({ words: model.words, vectors: weights.words.values });
  if (cache && !kept) {
    for (const old of await cache.keys()) await cache.delete(old);
    cache.put(url, new Response(bytes)).catch(({ message }) => postMessage({ error: `Not kept offline: ${message}` }));
  }
}

async function get(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.url}: expected the model, got status ${response.status}`);
  return response;
}

async function download(url, { bytes, sha256 }) {
  const parts = [], reader = (await get(url)).body.getReader();
  let received = 0;
  for (let part; !(part = await reader.read()).done; received += part.value.length) {
    parts.push(part.value);
    postMessage({ progress: received / bytes });
  }
  const body = await new Blob(parts).arrayBuffer();
  const digest = new Uint8Array(await self.crypto.subtle?.digest("SHA-256", body) ?? 0);  // only with https
  const isRight = [...digest].every((byte, k) => byte === parseInt(sha256.slice(2 * k, 2 * k + 2), 16));
  if (received !== bytes || !isRight) throw new Error("model.bin: expected the file that model.json describes; reload");
  return body;
}

function once(cache, key, make) {
  if (cache.size > MOST_CACHED) cache.clear();
  if (!cache.has(key)) cache.set(key, make());
  return cache.get(key);
}

// W x, plus a bias if there is one, for W [rows, columns], of which columns is a multiple of 4; x starts at `from`.
function multiply(name, x, from = 0) {
  const { values, rows, columns } = weights[name], bias = weights[`${name}.bias`]?.values;
  return new Float32Array(rows).map((_, row) => {
    let a = bias ? bias[row] : 0, b = 0, c = 0, d = 0;
    for (let k = from, at = row * columns; k < from + columns; k += 4, at += 4) {  // four sums are faster than one
      a += values[at] * x[k];
      b += values[at + 1] * x[k + 1];
      c += values[at + 2] * x[k + 2];
      d += values[at + 3] * x[k + 3];
    }
    return a + b + c + d;
  });
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const clip = (x, most) => most ? Math.max(-most, Math.min(most, x)) : x;

// The characters of a word as embeddings [C, 16]. All windows beyond its end are the same: one of each width is enough.
function embedCharacters(word) {
  const most = options.max_characters_per_token, dim = options.embedding.dim;
  const bytes = new TextEncoder().encode(word.replace(/\p{Surrogate}/gu, "")).subarray(0, most - 2);
  const padding = Array(Math.max(...options.filters.map(([width]) => width))).fill(PADDING);
  const ids = [BEGIN_WORD, ...BOUNDARIES[word] ?? bytes, END_WORD, ...padding].slice(0, most);
  return Float32Array.from(ids.flatMap((id) => [...weights.characters.values.subarray(id * dim, (id + 1) * dim)]));
}

// The context-free vector [P] of a word.
function encode(word) {
  const dim = options.embedding.dim, embedded = embedCharacters(word);
  let hidden = Float32Array.from(options.filters.flatMap(([width, count], index) => {
    let largest = new Float32Array(count);  // zero, as after the relu
    for (let from = 0; from + width * dim <= embedded.length; from += dim) {
      const scores = multiply(`filters.${index}`, embedded, from);
      largest = largest.map((most, k) => Math.max(most, scores[k]));
    }
    return [...largest];
  }));
  for (let index = 0; index < options.n_highway; index++) {
    const transform = multiply(`highway.${index}.transform`, hidden), gate = multiply(`highway.${index}.gate`, hidden);
    hidden = hidden.map((x, k) => x + sigmoid(gate[k]) * (Math.max(0, transform[k]) - x));
  }
  return multiply("projection", hidden);
}

// One LSTM layer from zero states: inputs, a list of [P] -> outputs, a list of [P].
function lstm(name, inputs, skip) {
  const { dim, projection_dim: width, cell_clip, proj_clip } = options;
  const joined = new Float32Array(2 * width), cell = new Float32Array(dim), hidden = new Float32Array(dim);
  return inputs.map((input) => {
    joined.set(input);
    const gates = multiply(name, joined);  // i, o, f, j
    for (let k = 0; k < dim; k++) {
      const kept = sigmoid(gates[2 * dim + k] + FORGET_BIAS) * cell[k];
      cell[k] = clip(kept + sigmoid(gates[k]) * Math.tanh(gates[3 * dim + k]), cell_clip);
      hidden[k] = sigmoid(gates[dim + k]) * Math.tanh(cell[k]);
    }
    const output = multiply(`${name}.projection`, hidden).map((x) => clip(x, proj_clip));
    joined.set(output, width);
    return skip ? output.map((x, k) => x + input[k]) : output;
  });
}

// The layers [L+1, T, 2P] of a sentence.
function embed(words) {
  const { projection_dim: width, n_layers, use_skip_connections } = options, T = words.length;
  const layers = new Float32Array((n_layers + 1) * T * 2 * width);
  ["forward", "backward"].forEach((direction, side) => {
    let inputs = [side ? "</S>" : "<S>", ...side ? [...words].reverse() : words];
    inputs = inputs.map((word) => once(vectors, word, () => encode(word)));
    for (let depth = 0; depth <= n_layers; depth++) {
      if (depth) inputs = lstm(`${direction}.${depth - 1}`, inputs, use_skip_connections && depth > 1);
      inputs.slice(1).forEach((x, step) => {
        const place = side ? T - 1 - step : step;
        layers.set(x, ((depth * T + place) * 2 + side) * width);
      });
    }
  });
  return layers;
}

const loaded = load();
onmessage = async ({ data: { id, sentences } }) => {
  try {
    await loaded;
    const layers = sentences.map((words) => once(sentenceLayers, JSON.stringify(words), () => embed(words)));
    postMessage({ id, layers });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
