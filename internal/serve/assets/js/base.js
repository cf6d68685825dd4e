// What all parts of the page use: elements, numbers, and the server.

// el makes an element. Text is always text; attributes that begin with "on" are
// listeners, and those that are null or false are left out.
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false || value === undefined) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name === 'value') e.value = value;
    else if (name === 'disabled' || name === 'checked' || name === 'selected') e[name] = true;
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.flat(9).filter(c => c !== null && c !== undefined && c !== false).map(c => c instanceof Node ? c : shown(String(c))));
  return e;
}

export const byId = id => document.getElementById(id);

// shown writes characters that are not seen or turn the direction of writing as
// escapes.
export const shown = text => text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

// fill replaces what is in an element and keeps the focus on what has the same key.
export function fill(parent, ...children) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const all = children.flat(9).filter(Boolean);
  parent.replaceChildren(...all);
  if (key) {
    const same = [...parent.querySelectorAll('[data-key]')].find(e => e.dataset.key === key);
    if (same) same.focus({ preventScroll: true });
  }
}

// fixed writes a number; null, which is not known, as a question mark.
export const fixed = (v, digits) => v === null || v === undefined ? '?' : v.toFixed(digits);

// plain writes a number with about three digits.
export function plain(v) {
  if (v === null || v === undefined) return '?';
  const size = Math.abs(v);
  return v.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

export const share = (amount, total) => {
  const p = 100 * amount / total;
  return p.toFixed(total > 1000 || (p < 10 && total >= 1000) || total % 100 === 0 && total >= 1000 ? 1 : total === 100 ? 0 : 1);
};

// say shows what went wrong, or hides it.
export function say(text) {
  const e = byId('said');
  e.hidden = !text;
  e.textContent = text ? shown(text) : '';
}

// get asks the server for something.
export async function get(path) {
  const r = await fetch(path);
  const answer = await r.json();
  if (!r.ok) throw new Error(answer.message + (answer.hint ? ': ' + answer.hint : ''));
  return answer;
}

// ask asks the server to do something, and says what went wrong.
export async function ask(request) {
  say('');
  try {
    const r = await fetch('/do', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request) });
    const answer = await r.json();
    if (r.ok) return answer;
    say(answer.message + (answer.hint ? ': ' + answer.hint : '') + '.');
  } catch (e) {
    say('kir does not answer. Was it ended? ' + e.message);
  }
  return null;
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

export const button = (text, onclick, more = {}) => el('button', { type: 'button', onclick, ...more }, text);

// page is what is known now.
export const page = { state: null, list: null, draws: null, pages: 1, problem: null };
