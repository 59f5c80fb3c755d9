// Keeps the page's small files for use offline; those of the network come first. elmo.js keeps the model.
"use strict";

const FILES = ["./", "browser.css", "page.js", "elmo.js", "model.json"];
const OF_THE_SITE = /(?:href|src)="(\.\.\/[^"]+\.(?:css|js)\b[^"]*)"/g;
const opened = caches.open("elmo-page");

async function keep() {
  const cache = await opened;
  await cache.addAll(FILES);
  const page = await (await cache.match("./")).text();
  const found = [...page.matchAll(OF_THE_SITE)].map(([, file]) => file.replaceAll("&amp;", "&"));
  await cache.addAll(new Set(found));
}

async function answer(request) {
  const cache = await opened, kept = await cache.match(request);
  const response = await fetch(request).catch((error) => kept ?? Promise.reject(error));
  if (response.ok && response !== kept) cache.put(request, response.clone()).catch(console.warn);  // is the disk full?
  return response;
}

oninstall = (event) => event.waitUntil(keep());
onfetch = (event) => event.request.url.includes("model.bin") || event.respondWith(answer(event.request));
