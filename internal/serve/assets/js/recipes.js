// The answer and the shortlist: how far to trust it, then cards or a table.
import { el, byId, fill, fixed, plain, button, dialog, shown, drawing, entire } from './dom.js';
import { page, ask, say, get, text, open, download, newest } from './state.js';
import { amount, amounts, batch, byAttribute, isVolume, swatch, groupColour, parts, showAttribute, showUnits } from './amounts.js';
import { keep, kept } from './drafts.js';
import { bar } from './bar.js';
import { score, whole } from './written.js';
import { showFront } from './front.js';
import { settings } from './conditions.js';

const orders = {
  'shortlist order': null,
  score: (a, b) => b.score - a.score,
  'number of ingredients': (a, b) => Object.keys(a.recipe).length - Object.keys(b.recipe).length,
  'distance from known recipes': (a, b) => distance(b) - distance(a),
};
const distance = b => b.nearest && b.nearest.length ? b.nearest[0].distance ?? -1 : -1;

const recipeText = b => [...amounts(b.recipe).map(([n, , text]) => `${text} ${n}`), ...settings(b)].join('\n');

async function copy(b, e) {
  try {
    await navigator.clipboard.writeText(recipeText(b));
    e.target.textContent = 'Copied';
  } catch {
    say('The browser does not allow copying here.');
  }
}

const pin = (name, units) => ask({ do: 'pin', ingredient: name, amount: units ? String(units) : '' });
const look = name => document.dispatchEvent(new CustomEvent('steer', { detail: name }));

// row is an ingredient of a recipe; a click opens what can be done with it.
function row(b, [name, units, text], k) {
  const range = b.ranges?.[name];
  return el('li', {}, el('details', { name: 'part-' + k, 'data-key': `part ${k} ${name}` },
    el('summary', {}, swatch(name), el('span', { class: 'name', title: entire(name) }, name), el('span', { class: 'amount' }, text)),
    range && el('p', { class: 'soft' }, `${amount(range.low)} to ${amount(range.high)} score the same, if one other ingredient makes up the difference`),
    el('div', { class: 'small-tools' },
      button('Pin', () => pin(name), { 'aria-label': `Pin ${shown(name)}, at any amount`, title: 'Every recipe uses it, at any amount', 'data-key': `pin ${k} ${name}`, 'aria-pressed': String(page.problem.required.includes(name)) }),
      button('Keep amount', () => pin(name, units), { 'aria-label': `Keep amount of ${shown(name)}: ${text}`, title: `Every recipe uses ${text}`, 'data-key': `keep ${k} ${name}` }),
      button('Ban', () => ask({ do: 'ban', ingredient: name }), { 'aria-label': `Ban ${shown(name)}`, 'data-key': `ban ${k} ${name}` }),
      button('Replace', () => replace(name), { 'aria-label': `Replace ${shown(name)}`, 'data-key': `replace ${k} ${name}` }),
      button('Set limits', () => look(name), { 'aria-label': `Set limits of ${shown(name)}`, 'data-key': `steer ${k} ${name}` }))));
}

function replace(name) {
  const by = el('input', { list: 'names', required: true });
  const d = dialog(`Replace ${shown(name)}`, el('form', { class: 'tools', onsubmit: async e => { e.preventDefault(); if (await ask({ do: 'replace', ingredient: name, by: by.value })) d.close(); } },
    el('label', {}, 'By ', by), el('button', { class: 'main' }, 'Replace'), button('Cancel', () => d.close())));
}

// shownOf is what is expected of a prediction where it was chosen among many, as in the report,
// or the value where that is limited.
const shownOf = q => q.limited ? q.value : q.expected ?? q.value;

// predicted writes what a model expects of a label, with its interval and unit; what a weak
// model says is grey.
function predicted(name, q) {
  const notes = [], known = q.low !== null;
  if (q.limited) notes.push('expected ' + (q.class ? `${whole(q.expected)} %` : plain(q.expected)));
  if (known) notes.push(q.class ? `${whole(q.low)} to ${whole(q.high)} %` : `${plain(q.low)} to ${plain(q.high)}`);
  if (q.unchecked) notes.push('not checked');
  if (q.weak) notes.push('weak model');
  return el('span', { class: q.weak ? 'soft' : null }, `${name} ` + (q.class ? `${q.class} ${whole(shownOf(q))} %` : plain(shownOf(q)) + (q.unit ? ' ' + shown(q.unit) : '')) +
    (notes.length ? ` (${notes.join(', ')})` : '') + (q.at ? ` at ${q.at}` : ''));
}

function facts(b) {
  const out = [];
  const all = [...Object.entries(b.predicted ?? {}).map(([w, q]) => predicted(w, q)),
    ...Object.entries(b.scores ?? {}).filter(([w]) => !b.predicted?.[w]).map(([w, y]) => el('span', {}, `${w} ${score(y)}`))];
  const some = Object.values(b.predicted ?? {});
  const meaning = [some.some(q => !q.class) && 'In brackets: the range of 9 in 10 new results.', some.some(q => q.class) && 'A percentage is the chance of that result, corrected by recipes kept out of the training (held-out); in brackets, its 90 % range.'].filter(Boolean).join(' ');
  if (all.length) out.push(el('p', { title: meaning || null },
    all.map((e, k) => [k ? ' · ' : '', e])));
  for (const l of b.sure ?? []) out.push(el('p', {}, `${l.limit}: ${fixed(100 * l.probability, 1)} % chance of meeting it`));
  if (b.extrapolates) out.push(el('p', { class: 'provisional' }, 'Unlike any known recipe: its predictions are unreliable.'));
  if (b.nearest?.length) {
    const n = b.nearest[0];
    out.push(el('p', { class: 'soft', title: '0: the same recipe. 1: no ingredient in common. Ingredients that every one of your recipes contains are ignored.' }, `Nearest of your recipes: ${n.recipe}` + (n.distance === null ? '' : ` (distance ${fixed(n.distance, 2)} of 1)`)));
  }
  for (const v of b.variants ?? []) {
    const change = [...v.without.map(n => 'without ' + n), ...Object.entries(v.with).map(([n, a]) => `with ${n} (${amount(a)})`)];
    out.push(el('p', { class: 'soft', title: 'The other amounts change to keep the total.' }, `Variant ${change.join(', ')}: score ${score(v.score)}`));
  }
  return el('div', { class: 'facts' }, out);
}

// sheetTable is a weighing sheet as a table.
function sheetTable(s) {
  const costs = s.costs.length > 0, columns = costs ? 6 : 5;
  let group = '';
  const row = (r, k) => {
    const head = r.group !== group && el('tr', {}, el('th', { colspan: columns, scope: 'rowgroup' }, r.group || 'Others'));
    group = r.group;
    return [head, el('tr', {}, el('td', {}, el('input', { type: 'checkbox', 'aria-label': `Done: ${shown(r.ingredient)}` })), el('th', { scope: 'row' }, r.ingredient),
      el('td', { class: 'n' }, el('strong', {}, r.amount)), el('td', { class: 'n' }, r.running), el('td', { class: 'n share' }, s.percents[k]), costs && el('td', { class: 'n' }, s.costs[k]))];
  };
  return [el('p', { class: 'small' }, `${s.title}. ${s.batch} in total, to the nearest ${s.step} ${s.unit}.`),
    s.set?.length > 0 && el('p', {}, el('strong', {}, 'Set: ' + s.set.map(c => `${c.condition} ${c.value}`).join(', '))),
    el('table', { class: 'sheet' }, el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Done'), el('th', { scope: 'col' }, 'Ingredient'), el('th', { scope: 'col', class: 'n' }, s.unit),
      el('th', { scope: 'col', class: 'n' }, 'Running total'), el('th', { scope: 'col', class: 'n share' }, '%'), costs && el('th', { scope: 'col', class: 'n' }, 'Cost'))),
    el('tbody', {}, s.rows.map(row)),
    el('tfoot', {}, el('tr', {}, el('td'), el('th', { scope: 'row' }, 'Sum'), el('td', { class: 'n' }, el('strong', {}, s.sum)), el('td'), el('td', { class: 'n share' }, '100'), costs && el('td', { class: 'n' }, s.total_cost)))),
    s.notes.map(n => el('p', { class: 'small' }, n))];
}

function weigh(k) {
  const out = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The sheet' }), of = batch(), last = newest();
  const from = page.list.step, size = el('input', { value: of.size, size: 8 }), precision = el('input', { value: of.step, size: 5 });
  const query = () => `/weigh?step=${from}&entry=${k}&batch=${encodeURIComponent(size.value)}&round=${encodeURIComponent(precision.value)}`;
  const show = async () => {
    const sheet = await last(text(query() + '&as=json')).catch(e => e.message);
    if (sheet === undefined) return;
    const made = sheet.startsWith('{'); // what is wrong is no JSON
    fill(out, made && sheetTable(JSON.parse(sheet)));
    say(made ? '' : sheet.trim());
  };
  const d = dialog(isVolume() ? 'Measuring sheet' : 'Weighing sheet', el('form', { class: 'tools', onsubmit: e => { e.preventDefault(); show(); } },
    el('label', {}, 'Total ', size), el('label', {}, 'Round to ', precision), el('button', {}, 'Round amounts'),
    button('Print', () => open(query() + '&as=html', true), { class: 'main' }), button('CSV', () => download(query() + '&as=csv', 'weighing.csv')), button('Close', () => d.close())), out);
  show();
}

// weak says whether a model that counts is weak, and so the score.
const weak = () => page.list.grade === 'weak';

// known shows the best known recipe, to compare suggestions with.
const known = b => el('li', { class: 'known', 'data-entry': 'known' },
  el('div', { class: 'head' }, el('h3', {}, 'Your best: ', b.name)),
  bar(b.recipe),
  el('ul', { class: 'parts', 'aria-label': 'Your best recipe' }, amounts(b.recipe).map(([name, , text]) => el('li', {}, el('div', { class: 'row' }, swatch(name), el('span', { class: 'name', title: entire(name) }, name), el('span', { class: 'amount' }, text))))),
  el('div', { class: 'facts' }, el('p', {}, [...b.results, ...settings(b)].join(' · ')), b.notes.map(n => el('p', { class: 'soft' }, n))));

function card(b, k) {
  return el('li', { class: 'card', 'data-entry': k + 1 },
    el('div', { class: 'head' }, el('h3', { class: 'number', 'aria-label': `Recipe ${k + 1}` }, String(k + 1)), el('span', { class: 'small' + (weak() ? ' soft' : ''), title: 'Score combines all objectives; higher is better.' }, `score ${score(b.score)}` + (weak() ? ' (weak model)' : ''))),
    bar(b.recipe, { key: 'recipe ' + k, keep: pin, look }),
    settings(b).length > 0 && el('p', { class: 'set' }, settings(b).join(' · ')),
    el('ul', { class: 'parts', 'aria-label': `Recipe ${k + 1}` }, amounts(b.recipe).map(p => row(b, p, k))),
    facts(b),
    el('div', { class: 'small-tools' },
      button('More like this', () => ask({ do: 'near', recipe: b.recipe, changes: 2 }), { 'data-key': `near ${k}`, 'aria-label': `More like this recipe, ${k + 1}` }),
      button(isVolume() ? 'Measure out' : 'Weigh out', () => weigh(k + 1), { 'data-key': `weigh ${k}`, disabled: !page.list.settled, 'aria-label': `${isVolume() ? 'Measure out' : 'Weigh out'} recipe ${k + 1}` }),
      button('Copy', e => copy(b, e), { 'data-key': `copy ${k}`, 'aria-label': `Copy recipe ${k + 1}` })));
}

function table(list) {
  const names = [...new Set(list.flatMap(([b]) => parts(b.recipe).map(([n]) => n)))];
  const texts = list.map(([b]) => new Map(amounts(b.recipe).map(([n, , text]) => [n, text])));
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The shortlist as a table' },
    el('table', {}, el('caption', { class: 'small soft' }, 'Each column is a recipe.'),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Ingredient'), list.map(([, k]) => el('th', { scope: 'col', class: 'n' }, String(k + 1))))),
      el('tbody', {},
        el('tr', { class: weak() ? 'soft' : null }, el('th', { scope: 'row' }, weak() ? 'score (weak model)' : 'score'), list.map(([b]) => el('td', { class: 'n' }, score(b.score)))),
        page.problem.conditions.map(c => el('tr', {}, el('th', { scope: 'row' }, c.name + (c.unit && `, ${c.unit}`)), list.map(([b]) => el('td', { class: 'n' }, String(b.conditions?.[c.name] ?? ''))))),
        names.map(n => el('tr', {}, el('th', { scope: 'row' }, swatch(n), n),
          texts.map(of => el('td', { class: 'n' }, of.get(n) ?? '')))))));
}

export function showList() {
  const l = page.list;
  if (!l || !page.problem) return;
  const note = byId('list-note');
  // A list of another step, or of results before those that are learnt from, is dimmed.
  const old = l.step !== page.state.step || l.settled && page.state.phase !== 'settled';
  byId('list').classList.toggle('old', old);
  byId('list').setAttribute('aria-busy', String(old));
  if (l.step !== page.state.step) {
    note.textContent = `This is still the shortlist of step ${l.step}; the new one follows.`;
    note.className = 'small provisional';
    return;
  }
  byId('list-headline').textContent = shown(l.headline);
  byId('list-headline').className = 'headline ' + (l.grade || 'plain');
  note.textContent = l.settled ? '' : shown(l.note);
  note.className = 'small provisional';
  const reasons = [...l.verdict ?? [], ...l.settled ? [l.note] : []];
  byId('verdict').hidden = !reasons.length;
  fill(byId('verdict-text'), reasons.map(v => el('p', {}, v)));
  byId('csv').hidden = !l.settled;
  fill(byId('key'), byAttribute() && page.problem.groups.map((g, k) => el('li', {}, el('span', { class: 'swatch ' + groupColour(k) }), g)).slice(0, 24));
  byId('key').hidden = !byAttribute();
  showFront();
  showResponses(l);
  const wanted = byId('find').value.trim().toLowerCase();
  byId('list-tools').firstElementChild.textContent = wanted ? shown(`Filters: ${wanted}`) : 'Filters';
  let list = l.entries.map((b, k) => [b, k]).filter(([b]) => !wanted || Object.keys(b.recipe).some(n => n.toLowerCase().includes(wanted)));
  const order = orders[byId('sort').value];
  if (order) list.sort((a, b) => order(a[0], b[0]));
  else if (byId('sort').value.startsWith('of ')) {
    const w = byId('sort').value.slice(3), of = b => (b.predicted?.[w] ? shownOf(b.predicted[w]) : b.scores[w]);
    list.sort((a, b) => of(b[0]) - of(a[0]));
  }
  if (!list.length) return fill(byId('list'), el('p', { class: 'soft' }, l.entries.length ? 'No recipe of the shortlist contains this ingredient.' : 'No recipe fits yet.'));
  if (byId('shape').value === 'table') return fill(byId('list'), table(list));
  unfolded ||= kept('unfolded') === true;
  const long = list.length > fewCards && !unfolded;
  fill(byId('list'), el('ol', { class: 'cards' + (long ? ' folded' : '') }, l.known && !wanted && known(l.known), list.map(([b, k]) => card(b, k))),
    long && button(`Show all ${list.length}`, unfold, { class: 'control', 'data-key': 'all' }));
}

const fewCards = 8; // that are shown at first
const unfold = () => { unfolded = true; keep('unfolded', true); showList(); };
let unfolded = false;

const lastResponses = newest();
let responsesOf = null;

// showResponses shows how the models of a settled shortlist respond to amounts.
async function showResponses(l) {
  byId('models-section').hidden ||= !l.settled;
  if (!l.settled || responsesOf === l.version) return;
  responsesOf = l.version;
  try {
    const all = await lastResponses(get(`/figures?step=${l.step}`));
    if (!all) return;
    if (!all.settled) return responsesOf = null; // the step has begun again
    byId('models-section').hidden = !all.responses.length;
    fill(byId('responses'), all.responses.map(drawing));
  } catch {
    responsesOf = null;
  }
}

// showOrders offers to sort by each objective.
export function showOrders() {
  const was = byId('sort').value;
  const options = [...Object.keys(orders), ...page.problem.objectives.map(w => 'of ' + w.name)];
  byId('sort').replaceChildren(...options.map(o => el('option', { value: o }, o.replace(/^of /, ''))));
  byId('sort').value = [was && byId('sort').dataset.set ? was : kept('sort'), options[0]].find(o => options.includes(o));
  byId('sort').dataset.set = '1';
  if (kept('shape') === 'table') byId('shape').value = 'table';
  showUnits();
  showAttribute();
}

export function begin() {
  byId('find').addEventListener('input', showList);
  for (const id of ['sort', 'shape']) byId(id).addEventListener('change', () => { keep(id, byId(id).value); showList(); });
  byId('csv').addEventListener('click', () => download('/csv?step=' + page.list.step, 'shortlist.csv'));
}
