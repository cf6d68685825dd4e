// Opens the page where there is no server: starts the worker, and is what the page takes for
// its server (see transport.js of the page).

const status = document.getElementById('boot-status');
const say = text => { status.textContent = text; };

// One tab at a time writes to the browser's storage.
const alone = await new Promise(done => {
  if (!navigator.locks) return done(true);
  navigator.locks.request('kir', { ifAvailable: true }, lock => {
    done(!!lock);
    return lock ? new Promise(() => {}) : undefined; // held as long as the tab is open
  });
});

// The worker has the policy of this page, which it would not have from an address.
const source = `import ${JSON.stringify(new URL('worker.js', document.baseURI).href)};`;
let worker = null, ready, count = 0;
const waiting = new Map();
const started = new Promise((done, refused) => { ready = { done, refused }; });

function hear({ data }) {
  if (data.ready) return ready.done();
  if ('loading' in data) return say(data.loading < 1 ? `Loading kir: ${Math.round(100 * data.loading)} %` : 'Starting kir …');
  if (data.failed) {
    ready.refused(new Error(data.failed));
    document.dispatchEvent(new CustomEvent('kir-failed', { detail: data.failed }));
    for (const w of waiting.values()) w.refused(new Error(data.failed));
    return warn(`kir has stopped: ${data.failed}. What was saved is kept: load the page again.`);
  }
  if (data.unkept) return warn(`The browser keeps nothing of this: ${data.unkept}. Save your work as a file.`);
  const w = waiting.get(data.id ?? data.flushed);
  if (!w) return;
  if (data.flushed) {
    waiting.delete(data.flushed);
    data.refused ? w.refused(new Error(data.refused)) : w.done();
  } else if (data.status) w.head(data.status, data.headers);
  else if (data.bytes) w.chunk(data.bytes);
  else if (data.end) {
    waiting.delete(data.id);
    w.end();
  }
}

// warn shows a line above the page.
function warn(text) {
  const e = document.getElementById('kir-warning') ?? document.body.appendChild(Object.assign(document.createElement('p'), { id: 'kir-warning' }));
  e.setAttribute('role', 'alert');
  e.textContent = text;
}

// request sends one to the worker, and calls head, chunk and end as the answer comes.
function request(path, { method = 'GET', headers = {}, body = null }, answer) {
  const id = ++count;
  waiting.set(id, answer);
  started.then(() => worker.postMessage({ id, path, method, headers, body }), answer.refused);
  return () => {
    waiting.delete(id);
    worker.postMessage({ cancel: id });
  };
}

// ask is fetch for what the server would answer.
async function ask(path, options = {}) {
  const body = options.body == null ? null : new Uint8Array(await new Response(options.body).arrayBuffer());
  return new Promise((done, refused) => {
    let out;
    const stream = new ReadableStream({ start(controller) { out = controller; } });
    request(path, { method: options.method, headers: { ...options.headers }, body }, {
      head: (status, headers) => done(new Response([204, 304].includes(status) ? null : stream, { status, headers })),
      chunk: bytes => out.enqueue(bytes),
      end: () => out.close(),
      refused: e => {
        refused(e);
        out.error(e);
      },
    });
  });
}

// Events is EventSource for what the server would stream.
class Events extends EventTarget {
  #cancel;

  constructor(path) {
    super();
    let text = '';
    const decoder = new TextDecoder();
    this.#cancel = request(path, {}, {
      head: () => {},
      chunk: bytes => {
        text += decoder.decode(bytes, { stream: true });
        for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
          const of = name => text.slice(0, end).split('\n').filter(l => l.startsWith(name + ': ')).map(l => l.slice(name.length + 2)).join('\n');
          if (of('data')) this.dispatchEvent(new MessageEvent(of('event') || 'message', { data: of('data') }));
        }
      },
      end: () => this.#failed(),
      refused: () => this.#failed(),
    });
  }

  #failed() {
    const e = new Event('error');
    this.onerror?.(e);
    this.dispatchEvent(e);
  }

  close() { this.#cancel(); }
}

// show makes a document that the worker answers with the one that is seen.
async function show(path) {
  const text = await (await ask(path)).text();
  const next = new DOMParser().parseFromString(text, 'text/html');
  document.title = next.title;
  document.documentElement.lang = next.documentElement.lang;
  for (const e of document.head.querySelectorAll('link[rel=stylesheet]')) e.remove();
  for (const e of next.head.querySelectorAll('link[rel=stylesheet]')) {
    const style = document.createElement('style');
    style.textContent = await (await ask(new URL(e.getAttribute('href'), 'http://kir/').pathname)).text();
    document.head.append(style);
  }
  document.body.replaceChildren(...next.body.childNodes);
  for (const [name, value] of Object.entries({ class: next.body.className })) document.body.setAttribute(name, value);
  for (const e of next.querySelectorAll('script[src]')) await import(new URL('.' + new URL(e.getAttribute('src'), 'http://kir/').pathname, document.baseURI));
}

// Links to what the server would answer are files to save, or another page.
addEventListener('click', async e => {
  const a = e.target.closest?.('a[href]');
  const href = a?.getAttribute('href');
  if (!href || /^[a-z]+:|^#/.test(href)) return;
  e.preventDefault();
  const path = new URL(href, 'http://kir/');
  const answer = await ask(path.pathname + path.search);
  const url = URL.createObjectURL(await answer.blob());
  if (a.hasAttribute('download') || answer.headers.get('Content-Disposition')) {
    const name = a.getAttribute('download') || answer.headers.get('Content-Disposition').match(/filename="?([^"]+)/)?.[1];
    Object.assign(document.createElement('a'), { href: url, download: name ?? '' }).click();
  } else open(url, '_blank');
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
});

// The site works without a network once it was opened, where the browser keeps it.
navigator.serviceWorker?.register('offline.js').catch(() => {});

globalThis.kir = { fetch: ask, EventSource: Events, show };

if (!alone) {
  say('kir is open in another tab of this browser. Close that one, then load this page again.');
} else {
  try {
    worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: 'module' });
    worker.onmessage = hear;
    worker.onerror = e => ready.refused(new Error(e.message || 'the worker could not be started'));
    await started;
    await show('/');
  } catch (e) {
    say(`kir could not be started: ${e.message}`);
  }
}
