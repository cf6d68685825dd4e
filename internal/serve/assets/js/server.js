// What answers the page: the server that it came from or, on a site without one, kir in this
// window (globalThis.kir). Nothing else of the page knows which.
const here = globalThis.kir;
const place = 'kir key', proofPlace = 'kir proof'; // in the tab's storage, which belongs to the scheme, the host and the port

let proof = null; // what shows that kir answers, and not who listens at its port once it has ended
let lost = false; // the stream has ended, and none has shown the proof since

// unlocked returns the key of the server, which each request carries. The token of the address
// that was printed is exchanged for it once, and leaves the address before anything else is done.
async function unlocked() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token) {
    history.replaceState(null, '', location.pathname);
    const r = await fetch('/open', { method: 'POST', headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
    if (r?.ok) {
      const { key, proof: shown } = await r.json();
      proof = shown;
      try {
        sessionStorage.setItem(place, key);
        sessionStorage.setItem(proofPlace, shown);
      } catch {
        // Without storage the tab has the key until it is loaded again.
      }
      return key;
    }
  }
  try {
    proof = sessionStorage.getItem(proofPlace);
    return sessionStorage.getItem(place);
  } catch {
    return null;
  }
}

// served is whether a server answers, on whose disk files are.
export const served = !here;

const key = here ? null : await unlocked();
if (!here) {
  // An address that is put where the page is already open changes nothing but what stands behind "#".
  addEventListener('hashchange', async () => {
    if (new URLSearchParams(location.hash.slice(1)).has('token') && await unlocked()) location.reload();
  });
  if (!key) {
    const text = document.createElement('p');
    text.id = 'locked';
    text.setAttribute('role', 'alert');
    text.textContent = 'This tab has no access to kir: its address was opened before, or kir serve did not print it. Open the last address that kir serve printed; each opens one tab.';
    document.title = 'kir';
    document.body.replaceChildren(text);
    await new Promise(() => {});
  }
}

// ask is fetch with the key. Only a refusal may lack the proof.
export const ask = here?.fetch ?? (async (path, options = {}) => {
  if (lost && path !== '/events') throw new Error('The connection is lost.');
  const r = await fetch(path, { ...options, headers: { ...options.headers, Authorization: `Bearer ${key}` }, credentials: 'omit', redirect: 'error' });
  if (r.status === 403 || proof && r.headers.get('Kir-Proof') === proof) return r;
  throw new Error('Another program answers.');
});

// prove asks for the proof, before something is sent to a server that no stream is open to.
export const prove = here ? async () => {} : () => ask('/', { method: 'HEAD' });

// An Events receives server-sent events by ask, since an EventSource sends no header. It ends with
// an event "lost", of which detail is the status of the answer, 0 without one.
class Events extends EventTarget {
  #stop = new AbortController();

  constructor(path) {
    super();
    this.#receive(path).catch(() => 0).then(status => {
      lost = true;
      if (!this.#stop.signal.aborted) this.dispatchEvent(new CustomEvent('lost', { detail: status }));
    });
  }

  async #receive(path) {
    const r = await ask(path, { signal: this.#stop.signal });
    if (!r.ok) return r.status;
    lost = false;
    let text = '';
    const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part; !(part = await reader.read()).done;) {
      text += part.value;
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        const all = name => text.slice(0, end).split('\n').filter(l => l.startsWith(name + ': ')).map(l => l.slice(name.length + 2)).join('\n');
        if (all('data')) this.dispatchEvent(new MessageEvent(all('event') || 'message', { data: all('data') }));
      }
    }
    return r.status;
  }

  close() { this.#stop.abort(); }
}

export const events = path => new Events(path);

// open shows a document in a tab of its own, to be printed if wanted.
export async function open(path, print) {
  const tab = window.open('', '_blank'); // at once, or a browser takes it for an advertisement
  const text = await (await ask(path)).text();
  if (!tab) return;
  tab.document.open();
  tab.document.write(text);
  tab.document.close();
  if (print) tab.print();
}

// save keeps an answer as a file.
export async function save(path, name) {
  const r = await ask(path);
  if (!r.ok) throw new Error(await r.text());
  const address = URL.createObjectURL(await r.blob());
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// again shows the page anew.
export const again = here?.again ?? (() => location.reload());
