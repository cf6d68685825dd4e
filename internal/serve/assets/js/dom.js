// Elements and numbers, as all parts of the page make them.

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

// mark makes an element of a drawing.
export function mark(tag, attributes, text) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attributes)) if (v !== null && v !== undefined) e.setAttribute(k, v);
  if (text) e.textContent = shown(text);
  return e;
}

// drawing is a figure that the server made: its texts are escaped there. They are shown at 12 pixels at
// least, of 11 in the drawing: on a telephone the figure is moved sideways.
export function drawing(d) {
  const box = document.createElement('template');
  box.innerHTML = d.svg;
  const svg = box.content.firstElementChild;
  svg.style.minWidth = `${Math.ceil(svg.viewBox.baseVal.width * 12 / 11)}px`;
  return el('figure', {}, el('figcaption', {}, el('strong', {}, d.title)),
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': shown(d.title) }, svg));
}

// narrow is whether the page is as wide as a telephone.
export const narrow = matchMedia('(max-width: 36rem)');

export const byId = id => document.getElementById(id);

// shown writes characters that are not seen or turn the direction of writing as
// escapes.
export const shown = text => text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

// fill replaces what is in an element. What has the same key keeps the focus, and stays
// open if it was.
export function fill(parent, ...children) {
  const keyed = e => e.querySelectorAll('[data-key]');
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const open = new Set([...keyed(parent)].filter(e => e.open).map(e => e.dataset.key));
  parent.replaceChildren(...children.flat(9).filter(Boolean));
  if (!key && !open.size) return;
  for (const e of keyed(parent)) {
    if (open.has(e.dataset.key)) e.open = true;
    if (e.dataset.key === key) e.focus({ preventScroll: true });
  }
}

// fixed writes a number; null, which is not known, as a question mark.
export const fixed = (v, digits) => v === null || v === undefined ? '?' : v.toFixed(digits);

// entire is the title of a text that is cut short on the screen.
export const entire = text => text.length > 60 ? shown(text) : null;

// plain writes a number with about three digits.
export function plain(v) {
  if (v === null || v === undefined) return '?';
  if (v === 0) return '0';
  const size = Math.abs(v);
  return v.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

export const button = (text, onclick, more = {}) => el('button', { type: 'button', onclick, ...more }, text);

// dialog opens a window of its own, which is gone when it is closed. Errors stand at its end.
export function dialog(name, ...children) {
  const d = el('dialog', { 'aria-label': name }, el('h2', {}, name), children, el('p', { class: 'wrong', role: 'alert' }));
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
  return d;
}
