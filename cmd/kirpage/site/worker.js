// The worker of the page: the program with its files, and what the page asks of it.
import './wasm_exec.js';
import { Files, Store } from './files.js';

const most = 1 << 30; // bytes of all files, so that the memory of a tab is enough

// given is the program, or where it is: what the page says first.
const given = new Promise(done => { onmessage = ({ data }) => done(data.program); });

// unpacked returns the program, which is stored as gzip makes it, telling how much has come.
async function unpacked() {
  const program = await given;
  const answer = typeof program === 'string' ? await fetch(program) : new Response(program);
  if (!answer.ok) throw new Error(`kir.wasm.gz: ${answer.status}`);
  const whole = Number(answer.headers.get('Content-Length'));
  let come = 0;
  const counted = answer.body.pipeThrough(new TransformStream({
    transform(chunk, out) {
      come += chunk.length;
      postMessage({ loading: whole ? Math.min(1, come / whole) : 0 });
      out.enqueue(chunk);
    },
  }));
  const plain = counted.pipeThrough(new DecompressionStream('gzip'));
  return new Response(plain, { headers: { 'Content-Type': 'application/wasm' } });
}

const asked = new Map(); // what cancels requests that are being answered
let files;

async function begin() {
  let store = { all: async () => [], put: async () => {} };
  try {
    store = await Store.open('kir');
  } catch (e) {
    postMessage({ unkept: e.message });
  }
  files = new Files(store, '/kir', most);
  files.failed = e => postMessage(e.name === 'QuotaExceededError' ? { full: true } : { unkept: e.message });
  files.stored = () => postMessage({ kept: true });
  await files.load();
  if (self.name === 'new') files.put('/kir/.current', new Uint8Array(0)); // what was open last is not opened
  files.cwd = '/kir';
  globalThis.fs = files.fs();
  globalThis.process = files.process();
  globalThis.path = files.path();
  const go = new globalThis.Go();
  go.env = { GOMEMLIMIT: '3GiB' }; // it has at most 4
  globalThis.kirFailed = text => postMessage({ failed: text });
  globalThis.kirReady = ask => {
    onmessage = ({ data }) => {
      if (data.cancel) return void asked.get(data.cancel)?.();
      if (data.flush) return void files.flush().then(() => postMessage({ flushed: data.flush }), e => postMessage({ flushed: data.flush, refused: e.message }));
      const { id } = data;
      asked.set(id, ask(data, {
        head: (status, headers) => postMessage({ id, status, headers }),
        chunk: bytes => postMessage({ id, bytes }, [bytes.buffer]),
        end: () => {
          asked.delete(id);
          postMessage({ id, end: true });
        },
      }));
    };
    postMessage({ ready: true });
  };
  const { instance } = await WebAssembly.instantiateStreaming(unpacked(), go.importObject);
  await go.run(instance);
  ended('the program has ended');
}

let over = false;

// ended tells once that there is no program, and why.
function ended(text) {
  if (over) return;
  over = true;
  const memory = /out of memory|cannot allocate memory/.test(files?.said ?? '');
  const why = files?.said.match(/^(?:panic|fatal error): .*$/m)?.[0];
  postMessage({ failed: memory ? 'the memory that a browser has for it is not enough' : why ?? text });
}

// What the program throws when it is called later comes here alone.
addEventListener('error', e => {
  e.preventDefault(); // the page hears of it by the message
  ended(e.message);
});
addEventListener('unhandledrejection', e => ended(e.reason?.message ?? String(e.reason)));
begin().catch(e => ended(e.message));
