// Opens the page where there is no server: starts the worker, and is what the page takes for
// its server (see server.js of the page).

const status = document.getElementById('boot-status');
const say = text => { status.textContent = text; };

// Of a page that is opened as a file local.js has the modules and the program.
const local = globalThis.kirLocal;
const address = name => local ? local.address(name) : new URL(name, document.baseURI).href;

// One tab at a time writes to the browser's storage.
const alone = await new Promise(done => {
  if (!navigator.locks) return done(true);
  navigator.locks.request('kir', { ifAvailable: true }, lock => {
    done(!!lock);
    return lock ? new Promise(() => {}) : undefined; // held as long as the tab is open
  }).catch(() => done(true)); // where a browser has no locks for files
});

// The worker has the policy of this page, which it would not have from an address.
const source = local ? local.joined('wasm_exec.js', 'files.js', 'worker.js') : `import ${JSON.stringify(address('worker.js'))};`;
let worker = null, ready, count = 0;
const waiting = new Map();
const started = new Promise((done, refused) => { ready = { done, refused }; });

function hear({ data }) {
  if (data.ready) return ready.done();
  if ('loading' in data) return say(data.loading < 1 ? `Loading kir: ${Math.round(100 * data.loading)} %` : 'Starting kir …');
  if (data.failed) return stopped(data.failed);
  if (data.full) return unkept('The storage that this browser has for the site is full');
  if (data.unkept) return unkept(`The browser does not keep files: ${data.unkept}`);
  if (data.kept) return unkept('');
  const w = waiting.get(data.id ?? data.flushed);
  if (!w) return;
  if (data.flushed) {
    waiting.delete(data.flushed);
    if (data.refused) w.refused(new Error(data.refused));
    else w.done();
  } else if (data.status) w.head(data.status, data.headers);
  else if (data.bytes) w.chunk(data.bytes);
  else if (data.end) {
    waiting.delete(data.id);
    w.end();
  }
}

// warn shows a line above the page, with buttons.
function warn(text, ...ways) {
  const e = document.getElementById('kir-warning') ?? document.body.appendChild(Object.assign(document.createElement('p'), { id: 'kir-warning' }));
  e.setAttribute('role', 'alert');
  e.hidden = !text;
  e.replaceChildren(text, ...ways.flatMap(([name, onclick]) => [' ', Object.assign(document.createElement('button'), { type: 'button', textContent: name, onclick })]));
}

// stopped tells that the program has ended. What made it end may be what would be opened
// again, so there is a way without.
let over = null;
function stopped(why) {
  if (over) return; // what fails then fails for that
  over = new Error(why);
  ready.refused(over);
  for (const w of waiting.values()) w.refused(over);
  waiting.clear();
  warn(`kir has stopped: ${why}. The browser keeps your work as it was last stored.`,
    ['Load again', () => location.reload()], ['Begin with another table', () => location.assign('?new')]);
}

// unkept tells why the last changes are not stored, or that they are again. A tab that holds
// some asks before it closes.
const hold = e => e.preventDefault();
function unkept(why) {
  if (!why) {
    removeEventListener('beforeunload', hold);
    return warn('');
  }
  addEventListener('beforeunload', hold);
  warn(`${why}. The last changes are in this tab alone: save your work as a file, then make room.`, ['Save all as a file', () => saved('/site/kir.zip', 'kir.zip')]);
}

// request sends one to the worker, and calls head, chunk and end as the answer comes.
function request(path, { method = 'GET', headers = {}, body = null }, answer) {
  const id = ++count;
  if (over) {
    answer.refused(over);
    return () => {};
  }
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
    const cancel = request(path, { method: options.method, headers: { ...options.headers }, body }, {
      head: (status, headers) => done(new Response([204, 304].includes(status) ? null : stream, { status, headers })),
      chunk: bytes => out.enqueue(bytes),
      end: () => out.close(),
      refused: e => {
        refused(e);
        out.error(e);
      },
    });
    options.signal?.addEventListener('abort', () => {
      cancel();
      out.error(options.signal.reason);
    });
  });
}

// show makes a document that the worker answers with the one that is seen.
async function show(path) {
  const text = await (await ask(path)).text();
  const next = new DOMParser().parseFromString(text, 'text/html');
  document.title = next.title;
  document.documentElement.lang = next.documentElement.lang;
  for (const e of document.head.querySelectorAll('style')) e.remove();
  for (const e of next.head.querySelectorAll('link[rel=stylesheet]')) {
    const style = document.createElement('style');
    style.textContent = await (await ask(new URL(e.getAttribute('href'), 'http://kir/').pathname)).text();
    document.head.append(style);
  }
  next.getElementById('served')?.remove(); // it tells of a server
  const warning = document.getElementById('kir-warning');
  document.body.replaceChildren(...next.body.childNodes, ...warning ? [warning] : []);
  for (const [name, value] of Object.entries({ class: next.body.className })) document.body.setAttribute(name, value);
  for (const e of next.querySelectorAll('script[src]')) await import(address(new URL(e.getAttribute('src'), 'http://kir/').pathname.slice(1)));
}

// saved keeps what the worker answers as a file.
async function saved(path, name) {
  const answer = await ask(path);
  if (!answer.ok) return warn(await answer.text());
  const url = URL.createObjectURL(await answer.blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// flushed waits until all is in the browser's storage.
const flushed = () => new Promise((done, refused) => {
  if (over) return refused(over);
  const id = ++count;
  waiting.set(id, { done, refused });
  worker.postMessage({ flush: id });
});

// anew starts the program again, with what is in the storage.
const anew = async () => {
  try {
    await flushed();
  } catch {
    return; // the warning says why: what is in this tab alone would be gone
  }
  location.reload();
};

// post sends something that changes which work is seen, and starts again.
async function post(path, body) {
  const answer = await ask(path, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body });
  if (!answer.ok) return warn(await answer.text());
  await anew();
}

// The bar below the page is what a site has beside it.
async function bar() {
  const { works, current } = await (await ask('/site/works')).json();
  const e = (tag, given, ...children) => {
    const made = Object.assign(document.createElement(tag), given);
    made.append(...children);
    return made;
  };
  const choice = e('select', { onchange: () => post('/site/current', choice.value) },
    e('option', { value: '', selected: !current }, 'A new table'),
    ...works.map(w => e('option', { value: w, selected: w === current }, w.replace(/\/problem\.yaml$/, ''))));
  const file = e('input', { type: 'file', accept: '.zip', onchange: () => {
    const first = 'The file takes the place of all that this browser keeps of kir. Go on?';
    if (file.files[0] && (!works.length || confirm(first))) post('/site/open', file.files[0]);
  } });
  document.body.append(e('section', { id: 'kir-site', ariaLabel: 'This site' },
    e('p', {}, 'kir runs in this browser. Nothing leaves it: the page can connect to its own files alone, and works without a network. ',
      e('a', { href: 'docs/index.html', target: '_blank' }, 'Documents')),
    e('p', {}, e('label', {}, 'Work ', choice), ' ', e('button', { type: 'button', onclick: () => saved('/site/kir.zip', 'kir.zip') }, 'Save all as a file'), ' ',
      e('button', { type: 'button', onclick: () => saved('/site/run.zip', 'run.zip') }, 'Save the run'), ' ',
      e('label', {}, 'Open a saved file ', file))));
}

// again shows the page of a problem in place of the page that made it. The program goes on: it has
// learnt from the recipes, and begun to draw. What asks for this is gone then, and never answered.
async function again() {
  await show('/');
  await bar();
  scrollTo(0, 0);
  return new Promise(() => {});
}

// The site works without a network once it was opened, where the browser keeps it.
navigator.serviceWorker?.register('offline.js').catch(() => {});

globalThis.kir = { fetch: ask, kept: flushed, again };

if (!alone) {
  say('kir is open in another tab of this browser. Close that one, then load this page again.');
} else {
  try {
    const name = location.search === '?new' ? 'new' : '';
    if (name) history.replaceState(null, '', location.pathname); // once
    worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: local ? 'classic' : 'module', name });
    worker.onmessage = hear;
    worker.onerror = e => stopped(e.message || 'the worker could not be started');
    worker.postMessage({ program: local ? local.program : address('kir.wasm.gz') });
    await started;
    await show('/');
    await bar();
  } catch (e) {
    say(`kir could not be started: ${e.message}`);
  }
}
