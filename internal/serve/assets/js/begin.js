// The page that makes a problem of a table: what is guessed of it, to be answered by clicks.
import * as server from './begin-server.js';
import { store, stored } from './drafts.js';

const byId = id => document.getElementById(id);

// shown writes characters that are not seen or turn the direction of writing as escapes.
const shown = text => text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

// el makes an element. Text is always text; attributes that begin with "on" are listeners.
function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false || value === undefined) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name === 'checked' || name === 'selected') e[name] = true;
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.flat(9).filter(c => c !== null && c !== undefined && c !== false).map(c => c instanceof Node ? c : shown(String(c))));
  return e;
}

// fill replaces what is in an element; the focus stays on what has the same key, and a table
// where it was scrolled to.
function fill(parent, ...children) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const at = [...parent.querySelectorAll('.scroll')].map(e => [e.scrollLeft, e.scrollTop]);
  parent.replaceChildren(...children.flat(9).filter(Boolean));
  [...parent.querySelectorAll('.scroll')].forEach((e, k) => { if (at[k]) [e.scrollLeft, e.scrollTop] = at[k]; });
  const same = key && [...parent.querySelectorAll('[data-key]')].find(e => e.dataset.key === key);
  if (same) same.focus({ preventScroll: true });
}

function say(text) {
  byId('said').hidden = !text;
  byId('said').textContent = text ? shown(text) : '';
  if (text) byId('said').scrollIntoView({ block: 'nearest' });
}

// does waits for what the server answers and shows it; one thing is asked at a time, and
// what is clicked meanwhile follows.
let turn = Promise.resolve();
function does(what, ask) {
  turn = turn.then(async () => {
    say('');
    byId('phase').textContent = what;
    document.body.classList.add('busy');
    try {
      const answer = await ask();
      if (answer) show(answer);
    } catch (e) {
      say(e.message);
    }
    byId('phase').textContent = '';
    document.body.classList.remove('busy');
  });
  return turn;
}

const send = what => does('Reading the table …', () => server.answer(what));

// open gives the server a file; where recipes are there, it is a table of their ingredients.
async function open(file, of = state.tables.length && !state.named ? 'ingredients' : 'recipes') {
  if (!file) return;
  if (file.size > 32 * 1024 * 1024) return say('The table has more than 32 MiB: save the sheet with the recipes alone, or as CSV.');
  await does('Reading ' + file.name + ' …', async () => server.table(of, file.name, await file.arrayBuffer()));
}

// openText gives the server cells, which stay in the browser until the problem is written.
const openText = text => {
  byId('paste').value = text;
  store('cells', text);
  byId('paste-open').hidden = false;
  return does('Reading the cells …', () => server.table('recipes', text.includes('\t') ? 'cells.tsv' : 'cells.csv', new TextEncoder().encode(text)));
};

const kinds = {
  name: 'recipe', ingredient: 'ingredient', asset: 'asset', amount: 'amount', result: 'result', price: 'price', stock: 'stock', limit: 'maximum or minimum',
  group: 'group', note: 'note', value: 'price or return', time: 'time', left: 'left out',
};
const roles = { recipe: 'Recipe', ingredient: 'Ingredient', amount: 'Amount', unit: 'Unit', label: 'Result', ignore: 'Left out' };

function showTable(t) {
  const there = Object.keys(kinds).filter(k => t.rows.some(r => r.cells.some(c => c.k === k)));
  const width = Math.max(1, ...t.rows.map(r => r.cells.length));
  const picks = t.columns.length ? el('thead', {}, el('tr', {}, el('td', { class: 'line' }), t.columns.slice(0, width).map((c, i) => c.roles
    ? el('td', {}, el('select', { 'aria-label': `Role of column ${c.name}`, 'data-key': 'column ' + i, onchange: e => send({ do: 'column', name: c.name, value: e.target.value }) },
      c.roles.map(r => el('option', { value: r, selected: r === c.role }, roles[r]))))
    : el('td')))) : null;
  return el('section', { class: 'sheet', 'aria-labelledby': 'sheet-' + t.of },
    el('header', {}, el('h2', { id: 'sheet-' + t.of }, (t.of === 'ingredients' ? 'Ingredients: ' : '') + t.name + (t.sheet && t.sheets.length < 2 ? ', sheet ' + t.sheet : '')),
      t.sheets.length > 1 ? el('label', {}, 'Sheet ', el('select', { 'data-key': 'sheet', onchange: e => send({ do: 'sheet', value: e.target.value }) },
        t.sheets.map(s => el('option', { value: s, selected: s === t.sheet }, s)))) : null),
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `The cells of ${t.name}, ${t.of}`, 'data-key': 'cells ' + t.of },
      el('table', {}, picks, el('tbody', {}, t.rows.map(r => el('tr', { class: r.wrong ? 'wrong' : r.head ? 'names' : null },
        el('td', { class: 'line' }, r.why ? el('button', { type: 'button', class: 'link', 'aria-label': `Why row ${r.line} is left out`, 'data-key': `row ${t.of} ${r.line}`, onclick: () => explain(t, r) }, r.line + ' ?') : r.wrong ? r.line + ' !' : String(r.line)),
        Array.from({ length: width }, (_, i) => r.cells[i]?.t ? el('td', { class: r.cells[i].k ? 'k-' + r.cells[i].k : null, title: r.cells[i].t.length > 24 ? r.cells[i].t : null }, r.cells[i].t) : el('td'))))))),
    el('p', { id: 'why-' + t.of, role: 'status' }),
    el('ul', { class: 'key', 'aria-label': 'What the colours stand for' }, there.map(k => el('li', { class: 'k-' + k }, kinds[k]))),
    t.more ? el('p', { class: 'soft small' }, 'The table goes on; all of it is read.') : null);
}

// explain says why a row is left out, and offers what takes it in.
function explain(t, r) {
  byId('why-' + t.of).replaceChildren(el('span', {}, `Row ${r.line} is left out. ${r.why} `),
    r.back ? el('button', { type: 'button', 'data-key': 'take in', onclick: () => send(r.back) }, 'Use row') : '');
}

// choice is a button among others of which one holds.
const choice = (text, chosen, onclick, key) => el('button', { type: 'button', 'aria-pressed': String(chosen), onclick, 'data-key': key }, text);

const choices = (label, ...children) => el('div', { class: 'choices', role: 'group', 'aria-label': label }, children);

function showTarget(t) {
  const wish = (goal, why) => send({ do: 'goal', name: t.key, goal, value: why });
  const key = 'goal ' + t.key + ' ';
  const g = t.goal;
  const number = (name, label) => el('input', { type: 'number', step: 'any', 'aria-label': `${t.name} ${label}`, value: String(g[name]), 'data-key': key + name,
    onchange: e => e.target.value !== '' && wish({ ...g, [name]: Number(e.target.value) }) });
  const parts = t.must ? [] : [choice('Ignore', g.way === '', () => wish({ way: '' }), key)];
  for (const way of t.ways) {
    parts.push(choice(t.words[way], g.way === way, () => wish({ way, From: t.from, To: t.to, class: g.class || t.first.class }), key + way));
  }
  if (g.way === 'between') parts.push(number('From', 'from'), '–', number('To', 'to'));
  if (t.classes.length && g.way !== '') {
    parts.push(el('select', { 'aria-label': `Which ${t.name}`, 'data-key': key + 'class', onchange: e => wish({ ...g, class: e.target.value }) },
      t.classes.map(c => el('option', { value: c, selected: c === g.class }, c))));
  }
  return el('li', {}, el('h3', {}, t.name), el('span', { class: 'soft small' }, t.why ? 'No objective: ' + t.why : t.says),
    t.ways.length ? choices('Objective: ' + t.name, parts) : null);
}

let state = { tables: [] };

function show(v) {
  const began = !state.tables.length && v.tables.length;
  state = v;
  const some = v.tables.length > 0 || v.faults.length > 0;
  byId('open').hidden = some;
  byId('work').hidden = byId('end').hidden = !some;
  byId('dir').textContent = v.where === '.' ? 'the directory where kir was started' : shown(v.where);
  byId('made').hidden = !v.where;
  byId('title').textContent = !some ? 'Begin with a table' : v.ready ? 'What kir sees' : 'kir has questions about this table';
  byId('words').textContent = !some ? 'Open your recipes and their results. kir learns from them, and suggests what to make next.'
    : v.ready ? shown(v.says) + '. Check that each column has the right role (colour), answer the questions, then press Go.' : 'kir cannot read the table yet. Answer below, or change the file.';
  fill(byId('examples'), v.examples.map(x => el('li', {}, el('button', { type: 'button', 'data-key': 'example ' + x.key, onclick: () => does('Reading the example …', () => server.example(x.key)) },
    el('strong', {}, x.name), el('span', { class: 'soft small' }, x.says)))));
  fill(byId('tables'), v.tables.map(showTable), some && v.ready && !v.tables.some(t => t.of === 'ingredients') && v.text.includes('sparsity: recipes')
    ? el('p', {}, el('label', { class: 'button' }, 'Ingredient data', el('input', { type: 'file', class: 'unseen', 'data-key': 'add', accept: '.xlsx,.ods,.fods,.csv,.tsv,.tab,.txt', onchange: e => open(e.target.files[0], 'ingredients') })),
      el('span', { class: 'soft small' }, ' Optional: a second table with the price, stock, maximum or group of each ingredient.')) : null);
  byId('faults-section').hidden = !v.faults.length;
  fill(byId('faults'), v.faults.map((f, k) => el('li', {}, el('strong', {}, f.message), f.place ? el('span', { class: 'soft small' }, ' ' + f.place) : null, f.hint ? el('p', {}, f.hint) : null,
    f.answers.length ? choices('Possible fixes', f.answers.map((a, n) => choice(a.text, false, () => send(a.send), `fault ${k} ${n}`))) : null)));
  byId('asks-section').hidden = !v.asks.length;
  // The first questions stand there, and the others are folded: all have an answer.
  const asked = v.asks.map((q, k) => el('li', {}, el('span', {}, q.text, q.place ? el('span', { class: 'soft small' }, ' ' + q.place) : null),
    choices(q.text, q.answers.map((a, n) => choice(a.text, a.chosen, () => a.chosen || send(a.send), `ask ${k} ${n}`)))));
  const first = asked.length > 5 ? 4 : asked.length;
  fill(byId('asks'), asked.slice(0, first));
  byId('asks-rest').hidden = asked.length === first;
  byId('asks-count').textContent = `More answers that kir guessed: ${asked.length - first}`;
  fill(byId('asks-more'), asked.slice(first));
  byId('targets-section').hidden = !v.ready;
  fill(byId('targets'), v.targets.length ? v.targets.map(showTarget) : el('li', {}, 'No column has results of the recipes. kir then suggests combinations that occur together in your recipes.'));
  byId('bounds-section').hidden = !v.bounds.length;
  fill(byId('bounds'), v.bounds.map((b, k) => el('li', {},
    el('label', { class: 'switch' }, el('input', { type: 'checkbox', checked: b.on, 'data-key': 'bound ' + k, onchange: () => send(b.send) }), el('span', {}, b.words)),
    b.on && b.answers.length ? choices(b.words, b.answers.map((a, n) => choice(a.text, a.chosen, () => send(a.send), `bound ${k} ${n}`))) : null)));
  byId('round').hidden = !v.round;
  fill(byId('round'), v.round && [el('p', {}, v.round.text), choices(v.round.text, v.round.answers.map((a, n) => choice(a.text, a.chosen, () => a.chosen || send(a.send), `round ${n}`)))]);
  byId('left-section').hidden = !v.left.length;
  fill(byId('left'), v.left.map(t => el('li', {}, t)));
  byId('text-section').hidden = !v.text;
  byId('text').textContent = v.text;
  byId('where').textContent = v.ready && v.where ? 'kir will write: ' + shown(v.where) : '';
  byId('where').title = byId('where').textContent;
  byId('go').disabled = !v.ready;
  byId('anew').hidden = v.named;
  if (began) byId('main').focus({ preventScroll: true });
}

byId('file').addEventListener('change', e => open(e.target.files[0], 'recipes').then(() => { e.target.value = ''; }));
byId('paste').addEventListener('input', () => {
  byId('paste-open').hidden = !byId('paste').value.trim();
  store('cells', byId('paste').value || null);
});
byId('paste').addEventListener('paste', e => {
  const text = e.clipboardData.getData('text/plain');
  if (text.includes('\n')) { e.preventDefault(); openText(text); }
});
byId('paste-open').addEventListener('click', () => openText(byId('paste').value));
// What listens to the document ends with this page: on a site without a server the page of the
// problem takes its place in the same document.
const left = new AbortController();
const hear = (kind, heard) => document.addEventListener(kind, heard, { signal: left.signal });
hear('paste', e => {
  const text = e.clipboardData?.getData('text/plain') ?? '';
  if (!e.defaultPrevented && !state.tables.length && text.includes('\n') && !e.target.closest?.('textarea, input')) openText(text);
});
byId('anew').addEventListener('click', () => {
  state = { tables: [] };
  byId('paste').value = '';
  store('cells', null);
  send({ do: 'anew' });
});
byId('go').addEventListener('click', () => does('Writing the problem, and learning from the recipes …', async () => {
  byId('go').disabled = true;
  try {
    await server.go();
    store('cells', null);
    left.abort();
    await server.again();
  } finally {
    byId('go').disabled = !state.ready;
  }
}));
for (const kind of ['dragenter', 'dragover']) hear(kind, e => { e.preventDefault(); document.body.classList.add('over'); });
for (const kind of ['dragleave', 'drop']) hear(kind, e => { e.preventDefault(); document.body.classList.remove('over'); });
hear('drop', e => open(e.dataTransfer.files[0], state.tables.length ? 'ingredients' : 'recipes'));

// Cells that were typed and not read, as where the server ended, stand there again.
byId('paste').value = stored('cells') ?? '';
byId('paste-open').hidden = !byId('paste').value.trim();
does('', server.view);
