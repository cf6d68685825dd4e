// Keeps the files of this site, so that it works without a network once it was opened. They
// are of one version: a new one is fetched whole before it takes the place of the old one.
const version = 'VERSION';
const files = FILES;

addEventListener('install', e => e.waitUntil((async () => {
  const kept = await caches.open(version);
  await kept.addAll(files.map(f => new Request(f, { cache: 'reload' })));
})()));

addEventListener('activate', e => e.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== version) await caches.delete(name);
  await clients.claim();
})()));

addEventListener('fetch', e => e.respondWith((async () => {
  const url = new URL(e.request.url);
  url.pathname = url.pathname.replace(/\/index\.html$/, '/');
  const kept = await (await caches.open(version)).match(url, { ignoreSearch: true });
  return kept ?? fetch(e.request);
})()));
