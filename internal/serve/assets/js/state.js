// What is known, and the way to the server. All that the page asks for or sends goes
// through here, so that something else can stand in the server's place.
import { byId, shown } from './dom.js';
import * as server from './server.js';

// page is what is known now: the last message of each kind. problem is that of the state, and the one
// before while a step is read: what is shown is still of it.
export const page = { state: null, list: null, draws: null, campaign: null, pages: 1, problem: null };

// say shows what went wrong, or hides it: in the dialog that is open, which hides the rest of the page,
// or else on the page.
export function say(wrong) {
  const text = wrong && wrong[0].toUpperCase() + wrong.slice(1);
  const dialog = document.querySelector('dialog[open] > .wrong');
  byId('said').hidden = !text || dialog !== null;
  byId('said').firstElementChild.textContent = text && !dialog ? shown(text) : '';
  for (const e of document.querySelectorAll('dialog > .wrong')) e.textContent = text && e === dialog ? shown(text) : '';
}

const words = answer => answer.message + (answer.hint ? ': ' + answer.hint : '');

// reached asks the server. The error of who answers, but not for this page, is that of who does not.
async function reached(path, options) {
  const r = await server.ask(path, options).catch(e => { throw new Error('kir does not answer. Was it ended? ' + e.message); });
  if (r.status === 403) throw new Error('kir does not answer this page: it was started again. Open the address that it printed.');
  return r;
}

// get asks for something, and text for something that is text.
export async function get(path) {
  const r = await reached(path);
  const answer = await r.json();
  if (!r.ok) throw new Error(words(answer));
  return answer;
}
export const text = path => reached(path).then(r => r.text());

// send asks to do something; the answer has done or the words of what went wrong, and gone where
// nobody answers. last is of a page that is being closed.
export async function send(request, last = false) {
  try {
    const r = await reached('/do', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request), keepalive: last });
    const answer = await r.json();
    return r.ok ? answer : { wrong: words(answer) + '.' };
  } catch (e) {
    return { wrong: e.message, gone: true };
  }
}

// ask is send that shows what went wrong, and then gives null.
export async function ask(request) {
  say('');
  const answer = await send(request);
  if (!answer.wrong) return answer;
  say(answer.wrong);
  return null;
}

export const open = (path, print) => server.open(path, print).catch(e => say(e.message));
export const download = (path, name) => server.save(path, name).catch(e => say(e.message));

const retry = 2000; // milliseconds until a server that has ended is looked for again

// listen receives messages, of each kind the last one once a frame, in the order of kinds. gone is
// called when there will be none for a while, with whether this tab is refused, and back with the
// first one after that.
export function listen(kinds, show, gone, back) {
  const fresh = new Set();
  let lost = false;
  const open = () => {
    const events = server.events('/events');
    for (const kind of kinds) {
      events.addEventListener(kind, e => {
        const message = JSON.parse(e.data);
        page[kind] = message;
        if (!fresh.size) setTimeout(() => { for (const k of kinds) if (fresh.delete(k)) show(k); if (lost) { lost = false; back(); } }, 16);
        fresh.add(kind);
      });
    }
    events.addEventListener('lost', e => {
      lost = true;
      gone(e.detail === 403);
      setTimeout(open, retry);
    });
  };
  open();
}

// newest returns a function that waits for the answer to a question, and gives undefined
// for one that was asked again meanwhile: answers may come in another order than they
// were asked for, and only the last one counts.
export function newest() {
  let last = 0;
  return async question => {
    const mine = ++last;
    try {
      const answer = await question;
      return mine === last ? answer : undefined;
    } catch (e) {
      if (mine === last) throw e;
    }
  };
}
