// Keeps the page's small files for use offline; those of the network come first. elmo.js keeps the model.
"use strict";

const FILES = ["./", "index.html", "browser.css", "page.js", "elmo.js", "model.json"];
const opened = caches.open("elmo-page");

async function answer(request) {
  const cache = await opened, kept = await cache.match(request);
  const response = await fetch(request).catch((error) => kept ?? Promise.reject(error));
  if (response.ok && response !== kept) cache.put(request, response.clone()).catch(console.warn);  // is the disk full?
  return response;
}

oninstall = (event) => event.waitUntil(opened.then((cache) => cache.addAll(FILES)));
onfetch = (event) => event.request.url.includes("model.bin") || event.respondWith(answer(event.request));
