// The shortlist: cards or a table, found, sorted, in any batch.
import { el, byId, fill, fixed, plain, share, ask, say, button, newest, page, shown } from './base.js';

const orders = {
  'as it is': null,
  score: (a, b) => b.score - a.score,
  'number of ingredients': (a, b) => Object.keys(a.recipe).length - Object.keys(b.recipe).length,
  'distance from the known': (a, b) => distance(b) - distance(a),
};
const distance = b => b.nearest && b.nearest.length ? b.nearest[0].distance ?? -1 : -1;

// amount writes units in what was chosen: percent, or of a batch.
export function amount(units) {
  const total = page.problem.total, unit = byId('unit').value;
  if (unit === '%') return share(units, total) + ' %';
  return plain(units / total * (Number(byId('batch').value) || 0)) + ' ' + unit;
}

// colour is the class of an ingredient's colour: its group's, or its own. The server
// gives colours, so that they stay from step to step.
export function colour(name) {
  const p = page.problem;
  if (p.groups.length) return groupColour(p.members[name]);
  return 'c' + (page.list?.colours[name] ?? 8);
}

const groupColour = group => 'c' + (page.problem.colours[group] ?? 8);

export const parts = recipe => Object.entries(recipe).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));

// bar draws a composition as a bar that is as wide as there is room.
export function bar(recipe) {
  let all = parts(recipe);
  if (page.problem.groups.length) {
    const group = name => page.problem.members[name] ?? 99;
    all = [...all].sort((a, b) => group(a[0]) - group(b[0]) || b[1] - a[1]);
  }
  const total = page.problem.total;
  const e = el('div', { class: 'bar', role: 'img', 'aria-label': parts(recipe).map(([n, a]) => `${share(a, total)} % ${n}`).join(', ') },
    all.map(([name, a]) => el('span', { class: colour(name), title: `${shown(name)} ${share(a, total)} %` }, el('b', {}, name))));
  all.forEach(([, a], k) => { e.children[k].style.flexGrow = a; });
  return e;
}

const recipeText = b => parts(b.recipe).map(([n, a]) => `${amount(a)} ${n}`).join('\n');

async function copy(b, e) {
  try {
    await navigator.clipboard.writeText(recipeText(b));
    e.target.textContent = 'Copied';
  } catch {
    say('The browser does not allow to copy here.');
  }
}

const pin = (name, units) => ask({ do: 'pin', ingredient: name, amount: units ? String(units) : '' });

function part(b, [name, units], k) {
  const range = b.ranges?.[name];
  return el('tr', {},
    el('th', { scope: 'row' }, el('div', { class: 'named' }, el('span', { class: 'swatch ' + colour(name) }),
      button(name, () => document.dispatchEvent(new CustomEvent('steer', { detail: name })), { class: 'link', 'data-key': `steer ${k} ${name}`, title: 'Steer this ingredient' }))),
    el('td', { class: 'n', title: range ? `as good: ${amount(range.low)} to ${amount(range.high)}` : null }, amount(units)),
    el('td', { class: 'acts' }, el('div', { class: 'small-tools' },
      button('pin', () => pin(name), { 'aria-label': `Pin ${shown(name)}, at any amount`, title: 'In every recipe, at any amount', 'data-key': `pin ${k} ${name}` }),
      button('keep amount', () => pin(name, units), { 'aria-label': `Keep amount of ${shown(name)}: ${amount(units)}`, title: `Keep this amount: ${amount(units)} in every recipe`, 'data-key': `keep ${k} ${name}` }),
      button('ban', () => ask({ do: 'ban', ingredient: name }), { 'aria-label': `Ban ${shown(name)}`, 'data-key': `ban ${k} ${name}` }))));
}

const whole = v => v > 0 && v < 0.01 ? '<1' : v > 0.99 && v < 1 ? '>99' : String(Math.round(100 * v));

// predicted writes what a model expects of a label, with its interval; what a weak model
// says is grey.
function predicted(wish, q) {
  const notes = [], known = q.low !== null;
  if (known) notes.push(q.class ? `${whole(q.low)} to ${whole(q.high)} %` : `${plain(q.low)} to ${plain(q.high)}`);
  if (q.unchecked) notes.push('not checked');
  if (q.weak) notes.push('weak model');
  return el('span', { class: q.weak ? 'soft' : null }, `${wish} ` + (q.class ? `${q.class} ${whole(q.value)} %` : plain(q.value)) +
    (notes.length ? ` (${notes.join(', ')})` : '') + (q.at ? ` at ${q.at}` : ''));
}

function facts(b) {
  const out = [];
  const all = [...Object.entries(b.predicted ?? {}).map(([w, q]) => predicted(w, q)),
    ...Object.entries(b.scores ?? {}).filter(([w]) => !b.predicted?.[w]).map(([w, y]) => el('span', {}, `${w} ${fixed(y, 3)}`))];
  if (all.length) out.push(el('p', { title: 'A number has the interval that holds 9 in 10 new recipes; a class the share of recipes that are of it, of those that the model gives such a probability and has not seen, with its interval.' },
    all.map((e, k) => [k ? ' · ' : '', e])));
  if (b.nearest?.length) {
    const n = b.nearest[0];
    out.push(el('p', { class: 'soft' }, `Nearest known: ${n.recipe}` + (n.distance === null ? '' : `, distance ${fixed(n.distance, 2)}`)));
  }
  if (b.extrapolates) out.push(el('p', { class: 'provisional' }, 'Further from all known recipes than these are from each other: the models have seen nothing like it.'));
  for (const v of b.variants ?? []) {
    const change = [...v.without.map(n => 'without ' + n), ...Object.entries(v.with).map(([n, a]) => `with ${n} (${amount(a)})`)];
    out.push(el('p', { class: 'soft' }, `or ${change.join(', ')}: ${fixed(v.score, 3)}`));
  }
  return out;
}

function weigh(k) {
  const out = el('pre', { tabindex: 0 });
  const batch = el('input', { value: byId('unit').value === 'g' ? byId('batch').value + ' g' : byId('batch').value + ' ml', size: 8 });
  const step = el('input', { value: '0.1', size: 5 });
  const query = () => `/weigh?entry=${k}&batch=${encodeURIComponent(batch.value)}&round=${encodeURIComponent(step.value)}`;
  const link = el('a', { class: 'button', target: '_blank', rel: 'noopener' }, 'Page to print');
  const csv = el('a', { class: 'button', download: 'weighing.csv' }, 'CSV');
  const last = newest();
  const show = async () => {
    link.href = query() + '&as=html';
    csv.href = query() + '&as=csv';
    const text = await last(fetch(query()).then(r => r.text()));
    if (text !== undefined) out.textContent = text;
  };
  const d = el('dialog', { 'aria-label': 'Weighing sheet' },
    el('h2', {}, 'Weighing sheet'),
    el('form', { class: 'tools', onsubmit: e => { e.preventDefault(); show(); } },
      el('label', {}, 'Batch ', batch), el('label', {}, 'Steps of the scale ', step), el('button', {}, 'Round'), link, csv, button('Close', () => d.close())), out);
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
  show();
}

function replace(b) {
  const from = el('select', {}, parts(b.recipe).map(([n]) => el('option', { value: n }, n)));
  const by = el('input', { list: 'names', required: true });
  const d = el('dialog', { 'aria-label': 'Replace an ingredient' }, el('h2', {}, 'Replace an ingredient'),
    el('form', { class: 'tools', onsubmit: e => { e.preventDefault(); d.close(); ask({ do: 'replace', ingredient: from.value, by: by.value }); } },
      el('label', {}, 'Instead of ', from), el('label', {}, ' take ', by), el('button', { class: 'main' }, 'Replace'), button('Cancel', () => d.close())));
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
}

// weak says whether a model that counts is weak, and so the score.
const weak = () => page.list.grade === 'weak';

export function card(b, k, tools = true) {
  return el('li', { class: 'card' },
    el('header', {}, el('h3', {}, tools ? `Recipe ${k + 1}` : ''), el('span', { class: weak() ? 'soft' : null }, `score ${fixed(b.score, 3)}` + (weak() ? ' (weak model)' : ''))),
    bar(b.recipe),
    el('table', { class: 'parts' }, el('caption', { class: 'small', hidden: true }, `Recipe ${k + 1}`), el('tbody', {}, parts(b.recipe).map(p => part(b, p, k)))),
    facts(b),
    tools && el('div', { class: 'small-tools' },
      button('More like this', () => ask({ do: 'near', recipe: b.recipe, changes: 2 }), { 'data-key': `near ${k}`, 'aria-label': `More like this recipe, ${k + 1}` }),
      button('Replace', () => replace(b), { 'data-key': `replace ${k}`, 'aria-label': `Replace an ingredient of recipe ${k + 1}` }),
      button('Weigh', () => weigh(k + 1), { 'data-key': `weigh ${k}`, disabled: !page.list.settled, 'aria-label': `Weigh recipe ${k + 1}` }),
      button('Copy', e => copy(b, e), { 'data-key': `copy ${k}`, 'aria-label': `Copy recipe ${k + 1}` })));
}

function table(list) {
  const names = [...new Set(list.flatMap(([b]) => parts(b.recipe).map(([n]) => n)))];
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The shortlist as a table' },
    el('table', {}, el('caption', { class: 'small soft' }, 'A column a recipe.'),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Ingredient'), list.map(([, k]) => el('th', { scope: 'col', class: 'n' }, String(k + 1))))),
      el('tbody', {},
        el('tr', { class: weak() ? 'soft' : null }, el('th', { scope: 'row' }, weak() ? 'score (weak model)' : 'score'), list.map(([b]) => el('td', { class: 'n' }, fixed(b.score, 3)))),
        names.map(n => el('tr', {}, el('th', { scope: 'row' }, el('span', { class: 'swatch ' + colour(n) }), n),
          list.map(([b]) => el('td', { class: 'n' }, b.recipe[n] ? amount(b.recipe[n]) : '')))))));
}

export function showList() {
  const l = page.list;
  if (!l || !page.problem) return;
  if (l.step !== page.state.step) {
    byId('list-note').textContent = `This is still the shortlist of step ${l.step}.`;
    byId('list-note').className = 'small provisional';
    return;
  }
  byId('list-headline').textContent = shown(l.headline);
  byId('list-headline').className = 'headline ' + l.grade;
  byId('list-note').textContent = shown(l.note);
  byId('list-note').className = 'small ' + (l.settled ? 'soft' : 'provisional');
  byId('verdict').hidden = !l.verdict?.length;
  fill(byId('verdict-text'), (l.verdict ?? []).map(v => el('p', {}, v)));
  byId('csv').toggleAttribute('hidden', !l.settled);
  fill(byId('key'), page.problem.groups.map((g, k) => el('li', {}, el('span', { class: 'swatch ' + groupColour(k) }), g)).slice(0, 24));
  const wanted = byId('find').value.trim().toLowerCase();
  let list = l.entries.map((b, k) => [b, k]).filter(([b]) => !wanted || Object.keys(b.recipe).some(n => n.toLowerCase().includes(wanted)));
  const order = orders[byId('sort').value];
  if (order) list.sort((a, b) => order(a[0], b[0]));
  else if (byId('sort').value.startsWith('wish ')) {
    const w = byId('sort').value.slice(5), of = b => b.predicted?.[w]?.value ?? b.scores[w];
    list.sort((a, b) => of(b[0]) - of(a[0]));
  }
  if (!list.length) return fill(byId('list'), el('p', { class: 'soft' }, l.entries.length ? 'No recipe of the shortlist has it.' : 'There is no recipe yet that fits.'));
  fill(byId('list'), byId('shape').value === 'table' ? table(list) : el('ol', { class: 'cards' }, list.map(([b, k]) => card(b, k))));
}

export function begin() {
  for (const id of ['find', 'batch']) byId(id).addEventListener('input', showList);
  for (const id of ['sort', 'shape']) byId(id).addEventListener('change', showList);
  byId('unit').addEventListener('change', () => {
    byId('batch').disabled = byId('unit').value === '%';
    showList();
  });
}

// showOrders offers to sort by each wish.
export function showOrders() {
  const was = byId('sort').value;
  const options = [...Object.keys(orders), ...page.problem.wishes.map(w => 'wish ' + w.name)];
  byId('sort').replaceChildren(...options.map(o => el('option', { value: o }, o.replace(/^wish /, ''))));
  byId('sort').value = options.includes(was) ? was : options[0];
}
