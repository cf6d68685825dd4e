// The question: objectives and constraints, each changed where it stands.
import { el, byId, fill, plain, button, shown, entire } from './dom.js';
import { page, ask, get, say, newest } from './state.js';
import { keep, kept } from './drafts.js';
import { field, typed as typedAmount } from './amounts.js';
import { asRule } from './written.js';

export function showObjectives() {
  const all = page.problem.objectives;
  showTrade(all);
  fill(byId('objectives'), all.length ? all.map(w => {
    const value = el('output', {}, plain(w.weight));
    const slider = el('input', { type: 'range', min: 0, max: Math.max(4, 2 * w.weight), step: 0.25, value: w.weight, 'data-key': 'weight ' + w.name,
      oninput: () => { value.textContent = plain(Number(slider.value)); },
      onchange: () => ask({ do: 'weight', property: w.name, weight: Number(slider.value) }) });
    return el('li', {}, el('details', { 'data-key': 'objective ' + w.name },
      el('summary', {}, el('strong', {}, w.name), ' ', about(w), w.weight !== 1 && ` · importance ${plain(w.weight)}`),
      el('p', { class: 'soft' }, w.kind === 'learn' ? 'Learnt from your recipes (key "learn" in the problem file)' : `Key in the problem file: "${w.kind}"`), el('div', { class: 'tools' }, el('label', { title: 'Called "weight" in the problem file' }, 'Importance ', slider, ' ', value), aim(w))));
  }) : el('li', { class: 'soft lack' }, 'None: all recipes count as equally good.'));
}

// about is what is asked of an objective, without its name at the beginning.
const about = w => w.about.startsWith(w.name) && /^[ ,:]/.test(w.about.slice(w.name.length)) ? w.about.slice(w.name.length).replace(/^[,:]? /, '') : w.about;

// showTrade lets a trade-off be asked for where there are objectives to trade off.
function showTrade(all) {
  const asked = page.problem.trade, most = 4, counts = all.filter(w => w.weight > 0).map(w => w.name);
  byId('trade').hidden = all.length < 2;
  if (byId('trade').hidden) return;
  const chosen = asked.length ? asked : counts.slice(0, most);
  const boxes = all.map(w => el('input', { type: 'checkbox', value: w.name, checked: chosen.includes(w.name), 'data-key': 'trade ' + w.name }));
  fill(byId('trade'), el('details', { open: byId('trade').firstElementChild?.open, 'data-key': 'trade' },
    el('summary', { class: 'button quiet' }, asked.length ? `Trade-off of ${asked.map(shown).join(' and ')}` : 'Trade off objectives'),
    el('form', { class: 'box tools', onsubmit: e => { e.preventDefault(); e.target.parentElement.open = false; ask({ do: 'trade', trade: boxes.filter(b => b.checked).map(b => b.value) }); } },
      boxes.map((b, k) => el('label', {}, b, ' ', all[k].name)), el('button', { class: 'main', 'data-key': 'trade go' }, 'Show trade-off'),
      asked.length > 0 && button('None', () => ask({ do: 'trade', trade: [] }), { 'data-key': 'trade none' }))));
}

// aim lets the class or range that a model is asked for be another one.
function aim(w) {
  if (!w.numeric && !w.classes.length) return null; // it has no model
  if (!w.numeric) {
    const s = el('select', { 'data-key': 'want ' + w.name, onchange: () => s.value && ask({ do: 'aim', property: w.name, way: 'want', aim: s.value }) },
      el('option', { value: '' }, 'another value …'), w.classes.map(c => el('option', { value: c }, c)));
    return el('label', { class: 'control' }, 'Want ', s);
  }
  const low = el('input', { type: 'number', step: 'any', value: w.low, size: 6 }), high = el('input', { type: 'number', step: 'any', value: w.high, size: 6 });
  return [el('span', {}, 'Want'), button('High', () => ask({ do: 'aim', property: w.name, way: 'maximize', aim: true })), button('Low', () => ask({ do: 'aim', property: w.name, way: 'minimize', aim: true })),
    el('form', { class: 'tools', onsubmit: e => { e.preventDefault(); ask({ do: 'aim', property: w.name, way: 'between', aim: [Number(low.value), Number(high.value)] }); } },
      el('label', {}, 'from ', low), el('label', {}, 'to ', high), el('button', {}, 'Within'))];
}

// The kinds of constraints that forms are there for, and what each writes into the file, or asks for.
const quoted = v => JSON.stringify(v);
const bounds = (a, b) => [a && `min: ${quoted(a)}`, b && `max: ${quoted(b)}`].filter(Boolean).join(', ');
const kinds = {
  require: { label: 'always use', fields: ['ingredient'], request: f => ({ do: 'pin', ingredient: f.ingredient }) },
  exclude: { label: 'never use', fields: ['ingredient'], request: f => ({ do: 'ban', ingredient: f.ingredient }) },
  amount: { label: 'amount, if used', fields: ['ingredient', 'least', 'most'], rule: f => `amount: {of: ${quoted(f.ingredient)}, ${bounds(f.least, f.most)}}` },
  group: { label: 'total of a group', fields: ['group', 'least', 'most'], rule: f => `group: {of: {${quoted(page.problem.attribute)}: ${quoted(f.group)}}, total: [${quoted(f.least || '0%')}, ${quoted(f.most || '100%')}]}` },
  used: { label: 'how many of a group', fields: ['group', 'fewest', 'greatest number'], rule: f => `group: {of: {${quoted(page.problem.attribute)}: ${quoted(f.group)}}, used: [${Number(f.fewest) || 0}, ${Number(f['greatest number']) || 0}]}` },
  never: { label: 'not together', fields: ['ingredient', 'other'], rule: f => `never: [${quoted(f.ingredient)}, ${quoted(f.other)}]` },
  needs: { label: 'one needs another', fields: ['ingredient', 'other'], rule: f => `needs: {if: ${quoted(f.ingredient)}, then: ${quoted(f.other)}}` },
  other: { label: 'another, as in the problem file', fields: ['rule'], rule: f => f.rule },
};

const lastLeft = newest();
let fields = {};

function showFields() {
  const kind = kinds[byId('rule-kind').value];
  fields = {};
  byId('rule-fields').replaceChildren(...kind.fields.map(name => {
    const more = { required: !['least', 'most', 'fewest'].includes(name), oninput: later, size: 12 };
    if (name === 'group') fields[name] = el('select', more, page.problem.groups.map(g => el('option', { value: g }, g)));
    else if (name === 'ingredient' || name === 'other') fields[name] = el('input', { ...more, list: 'names' });
    else fields[name] = el('input', { ...more, placeholder: name === 'rule' ? 'limit: {attribute: cost, max: 12}' : isAmount(name) ? `such as ${field(Math.round(page.problem.total / 5))}` : '', size: name === 'rule' ? 32 : 10 });
    return el('label', {}, name + ' ', fields[name]);
  }));
  byId('rule-leaves').textContent = '';
}

const isAmount = name => name === 'least' || name === 'most';
const typed = () => Object.fromEntries(Object.entries(fields).map(([k, e]) => [k, e.value.trim()]));

// request is what the form asks for, or an error where an amount is none. Names are those of the
// problem, whatever their case.
function request() {
  const kind = kinds[byId('rule-kind').value], f = typed();
  for (const [k, text] of Object.entries(f)) {
    if (isAmount(k) && text) {
      const a = typedAmount(text);
      if (a.wrong) throw new Error(a.wrong);
      f[k] = asRule(a.units, page.problem.total);
    } else if (fields[k].getAttribute('list') === 'names' && !page.problem.names.includes(text)) {
      f[k] = page.problem.names.find(n => n.toLowerCase() === text.toLowerCase()) ?? text;
    }
  }
  return kind.request?.(f) ?? { do: 'rule', text: kind.rule(f) };
}

// restore puts a constraint that was being typed into its form again.
function restore() {
  const was = kept('rule');
  if (!was || ![...byId('rule-kind').options].some(o => o.value === was.kind)) return;
  byId('rule-kind').value = was.kind;
  showFields();
  for (const [k, v] of Object.entries(was.fields)) if (fields[k]) fields[k].value = v;
  byId('constraint-add').open = true;
}

let timer = 0;
function later() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (!byId('rule-form').checkValidity()) return;
    try {
      const a = await lastLeft(get('/leaves?change=' + encodeURIComponent(JSON.stringify(request()))));
      if (!a) return;
      byId('rule-leaves').textContent = a.fault ? shown(a.fault.message + (a.fault.hint ? ': ' + a.fault.hint : '')) : `This constraint leaves ${a.left} of ${a.of} recipes` + (a.draws ? `, and ${a.draws}.` : '.');
    } catch (e) {
      byId('rule-leaves').textContent = shown(e.message);
    }
  }, 150);
}

export function showConstraints() {
  const p = page.problem;
  byId('left').textContent = `${p.left} recipes meet the constraints.`;
  fill(byId('constraints'), p.constraints.length ? p.constraints.map((r, k) => el('li', {}, el('span', { title: entire(r) }, r), ' ',
    button('×', () => ask({ do: 'drop', rule: k }), { class: 'drop control', 'data-key': 'drop ' + k, title: 'Drop constraint', 'aria-label': `Drop constraint: ${shown(r)}` })))
    : el('li', { class: 'soft lack' }, 'None.'));
  const offered = Object.entries(kinds).filter(([, k]) => p.groups.length || !k.fields.includes('group'));
  if (byId('rule-kind').options.length !== offered.length) {
    byId('rule-kind').replaceChildren(...offered.map(([value, k]) => el('option', { value }, k.label)));
    showFields();
    restore();
  }
}

export function begin() {
  byId('rule-kind').addEventListener('change', showFields);
  byId('rule-form').addEventListener('input', () => keep('rule', Object.values(typed()).some(v => v) ? { kind: byId('rule-kind').value, fields: typed() } : null));
  byId('rule-form').addEventListener('submit', async e => {
    e.preventDefault();
    if (!page.problem) return;
    let asked;
    try {
      asked = request();
    } catch (wrong) {
      return say(wrong.message);
    }
    if (!await ask(asked)) return;
    keep('rule', null);
    byId('constraint-add').open = false;
    showFields();
  });
}
