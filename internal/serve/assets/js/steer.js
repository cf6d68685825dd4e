// What is asked otherwise: wishes, doses, groups and rules.
import { el, byId, fill, fixed, plain, get, ask, say, button, newest, page, shown } from './base.js';

const percent = v => Math.round(v * 1000) / 10 + '%';

export function showWishes() {
  const all = page.problem.wishes;
  if (!all.length) return fill(byId('wishes'), el('p', { class: 'soft' }, 'Nothing is wished for.'));
  fill(byId('wishes'), all.map(w => {
    const value = el('output', {}, plain(w.weight));
    const slider = el('input', { type: 'range', min: 0, max: Math.max(4, 2 * w.weight), step: 0.25, value: w.weight, 'data-key': 'weight ' + w.name,
      oninput: () => { value.textContent = plain(Number(slider.value)); },
      onchange: () => ask({ do: 'weight', property: w.name, weight: Number(slider.value) }) });
    return el('div', { class: 'wish' }, el('strong', {}, w.name), ' ', el('span', { class: 'small soft' }, `${w.kind}: ${w.about}`),
      el('div', { class: 'tools' }, el('label', {}, 'Weight ', slider, ' ', value), aim(w)));
  }));
}

// aim lets the class or range that a model is asked for be another one.
function aim(w) {
  if (!w.numeric && !w.classes.length) return null; // it has no model
  if (!w.numeric) {
    const s = el('select', { 'data-key': 'want ' + w.name, onchange: () => s.value && ask({ do: 'aim', property: w.name, way: 'want', aim: s.value }) },
      el('option', { value: '' }, 'another class …'), w.classes.map(c => el('option', { value: c }, c)));
    return el('label', { class: 'control' }, 'Want ', s);
  }
  const low = el('input', { type: 'number', step: 'any', value: w.low, size: 6 }), high = el('input', { type: 'number', step: 'any', value: w.high, size: 6 });
  return [button('largest', () => ask({ do: 'aim', property: w.name, way: 'maximize', aim: true })), button('smallest', () => ask({ do: 'aim', property: w.name, way: 'minimize', aim: true })),
    el('form', { class: 'tools', onsubmit: e => { e.preventDefault(); ask({ do: 'aim', property: w.name, way: 'between', aim: [Number(low.value), Number(high.value)] }); } },
      el('label', {}, 'from ', low), el('label', {}, 'to ', high), el('button', {}, 'Range'))];
}

const lastDose = newest(), lastLeft = newest();
let chosen = null; // the ingredient or group that is steered: {name, group}

export function showDraws() {
  const d = page.draws;
  if (!d || !page.problem || d.step !== page.state.step) return;
  byId('draws-why').textContent = `${d.made.toLocaleString('en')} draws` + (d.from ? `, begun at draws of the step before, of which ${d.from.toLocaleString('en')} still fit` : '') + '. ' + d.why;
  byId('draws-why').className = 'small ' + (d.reliable ? '' : 'provisional');
  const wanted = byId('find-ingredient').value.trim().toLowerCase();
  const rows = d.ingredients.filter(r => !wanted || r.name.toLowerCase().includes(wanted));
  const row = (name, used, mean) => el('tr', {},
    el('th', { scope: 'row' }, button(name, () => steer(name), { class: 'link', 'data-key': 'row ' + name })), el('td', { class: 'n' }, used), el('td', { class: 'n' }, mean));
  const found = page.problem.names.filter(n => wanted && n.toLowerCase().includes(wanted) && !rows.some(r => r.name === n)).slice(0, 20);
  fill(byId('ingredients').tBodies[0], rows.map(r => row(r.name, `${fixed(100 * r.used, 1)} ± ${r.se === null ? '?' : fixed(100 * r.se, 1)}`, fixed(100 * r.mean, 1))),
    found.map(n => row(n, 'rare', '')), d.unlisted && !wanted ? row(`and ${d.unlisted} more`, '', '') : null);
  byId('groups-part').hidden = !d.groups.length;
  byId('groups-head').textContent = 'Groups by ' + shown(page.problem.attribute);
  fill(byId('groups').tBodies[0], d.groups.map(g => {
    const move = up => {
      const from = up ? Math.min(0.95, Math.max(g.mean * 1.5, 0.05)) : null, to = up ? null : Math.max(0, g.mean * 0.5);
      ask({ do: 'group', attribute: g.attribute, value: g.value, min: up ? percent(from) : '', max: up ? '' : percent(to) });
    };
    return el('tr', {}, el('th', { scope: 'row' }, g.value), el('td', { class: 'n' }, fixed(100 * g.mean, 1)), el('td', { class: 'n' }, `${fixed(100 * g.q5, 0)} – ${fixed(100 * g.q95, 0)}`),
      el('td', { class: 'acts' }, el('div', { class: 'small-tools' }, button('more', () => move(true), { 'data-key': 'more ' + g.value, 'aria-label': `More ${shown(g.value)}: at least half as much again` }),
        button('less', () => move(false), { 'data-key': 'less ' + g.value, 'aria-label': `Less ${shown(g.value)}: at most half` }),
        button('range', () => steer(g.value, true), { 'data-key': 'range ' + g.value, 'aria-label': `range of ${shown(g.value)}` }))));
  }));
}

// steer shows the distribution of an ingredient's or a group's amount.
export async function steer(name, group = false, quiet = false) {
  chosen = { name, group };
  let d;
  try {
    d = await lastDose(get((group ? '/amounts?group=' : '/amounts?of=') + encodeURIComponent(name)));
  } catch (e) {
    byId('dose').hidden = true;
    if (!quiet) say(e.message);
    return;
  }
  if (!d) return;
  const send = (min, max) => ask(group ? { do: 'group', attribute: page.problem.attribute, value: name, min, max } : { do: 'dose', ingredient: name, min, max });
  const low = el('input', { value: percent(d.low), size: 7, 'data-key': 'dose low' }), high = el('input', { value: percent(d.high), size: 7, 'data-key': 'dose high' });
  const by = el('input', { list: 'names', size: 14 });
  byId('dose').hidden = false;
  fill(byId('dose'), el('h3', {}, name), el('p', { class: 'small' }, `Used by ${fixed(100 * d.used, 1)} % of the draws. Drag the ends to bound its amount where it is used.`),
    d.bins.length ? histogram(d, low, high, () => send(low.value, high.value)) : el('p', { class: 'soft' }, 'No draw uses it.'),
    el('form', { class: 'tools', onsubmit: e => { e.preventDefault(); send(low.value, high.value); } },
      el('label', {}, 'from ', low), el('label', {}, 'to ', high), el('button', {}, 'Bound it')),
    !group && el('div', { class: 'tools control' },
      button('Pin', () => ask({ do: 'pin', ingredient: name }), { 'data-key': 'dose pin' }), button('Ban', () => ask({ do: 'ban', ingredient: name }), { 'data-key': 'dose ban' }),
      el('label', {}, 'replace by ', by), button('Replace', () => by.value && ask({ do: 'replace', ingredient: name, by: by.value }))));
  if (!quiet) byId('dose').scrollIntoView({ block: 'nearest' });
}

// histogram draws the amounts with a handle at each end, which is a slider.
function histogram(d, low, high, done) {
  const W = 400, H = 120, B = 92, L = 14, R = W - 14;
  const ns = 'http://www.w3.org/2000/svg';
  const mark = (tag, attributes, text) => {
    const e = document.createElementNS(ns, tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text) e.textContent = text;
    return e;
  };
  const svg = mark('svg', { viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': `Distribution of the amount of ${shown(d.name)}` });
  const top = Math.max(...d.bins), width = (R - L) / d.bins.length;
  const at = v => L + (v - d.low) / (d.high - d.low) * (R - L);
  const bars = d.bins.map((n, k) => svg.appendChild(mark('rect', { x: L + k * width, y: B - n / top * (B - 8), width: Math.max(1, width - 1), height: n / top * (B - 8), class: 'mark' })));
  svg.append(mark('line', { x1: L, x2: R, y1: B, y2: B }));
  for (let k = 0; k <= 4; k++) {
    const v = d.low + k / 4 * (d.high - d.low);
    svg.append(mark('text', { x: at(v), y: H - 6, 'text-anchor': k === 0 ? 'start' : k === 4 ? 'end' : 'middle' }, percent(v)));
  }
  const ends = [d.low, d.high];
  const handles = [0, 1].map(k => svg.appendChild(mark('rect', { y: 2, width: 12, height: B - 2, rx: 3, class: 'handle', role: 'slider', tabindex: 0, 'data-key': 'handle ' + k,
    'aria-label': k ? 'Greatest amount' : 'Least amount', 'aria-valuemin': 100 * d.low, 'aria-valuemax': 100 * d.high, 'fill-opacity': 0.75 })));
  const draw = () => {
    ends.forEach((v, k) => {
      handles[k].setAttribute('x', at(v) - (k ? 0 : 12));
      handles[k].setAttribute('aria-valuenow', Math.round(1000 * v) / 10);
      handles[k].setAttribute('aria-valuetext', percent(v));
      (k ? high : low).value = percent(v);
    });
    bars.forEach((b, k) => {
      const v = d.low + (k + 0.5) / d.bins.length * (d.high - d.low);
      b.setAttribute('class', v < ends[0] || v > ends[1] ? 'out' : 'mark');
    });
  };
  const set = (k, v) => {
    const unit = 1 / d.total;
    v = Math.round(v / unit) * unit;
    ends[k] = k ? Math.min(d.high, Math.max(v, ends[0] + unit)) : Math.max(d.low, Math.min(v, ends[1] - unit));
    draw();
  };
  handles.forEach((h, k) => {
    h.addEventListener('pointerdown', e => { h.setPointerCapture(e.pointerId); e.preventDefault(); h.focus(); });
    h.addEventListener('pointermove', e => {
      if (!h.hasPointerCapture(e.pointerId)) return;
      const box = svg.getBoundingClientRect();
      set(k, d.low + ((e.clientX - box.left) / box.width * W - L) / (R - L) * (d.high - d.low));
    });
    h.addEventListener('pointerup', e => { h.releasePointerCapture(e.pointerId); done(); });
    h.addEventListener('keydown', e => {
      const step = (d.high - d.low) / (e.shiftKey ? 10 : 100);
      if (e.key === 'ArrowLeft' || e.key === 'ArrowDown') set(k, ends[k] - step);
      else if (e.key === 'ArrowRight' || e.key === 'ArrowUp') set(k, ends[k] + step);
      else if (e.key === 'Enter') return done();
      else return;
      e.preventDefault();
    });
  });
  draw();
  return svg;
}

// The kinds of rules that forms are there for, and what each writes into the file.
const quoted = v => JSON.stringify(v);
const bounds = (a, b) => [a && `min: ${quoted(a)}`, b && `max: ${quoted(b)}`].filter(Boolean).join(', ');
const kinds = {
  require: { label: 'always use', fields: ['ingredient'], rule: f => `require: ${quoted(f.ingredient)}` },
  exclude: { label: 'never use', fields: ['ingredient'], rule: f => `exclude: ${quoted(f.ingredient)}` },
  amount: { label: 'amount where it is used', fields: ['ingredient', 'least', 'most'], rule: f => `amount: {of: ${quoted(f.ingredient)}, ${bounds(f.least, f.most)}}` },
  group: { label: 'total of a group', fields: ['group', 'least', 'most'], rule: f => `group: {of: {${quoted(page.problem.attribute)}: ${quoted(f.group)}}, total: [${quoted(f.least || '0%')}, ${quoted(f.most || '100%')}]}` },
  used: { label: 'how many of a group', fields: ['group', 'fewest', 'greatest number'], rule: f => `group: {of: {${quoted(page.problem.attribute)}: ${quoted(f.group)}}, used: [${Number(f.fewest) || 0}, ${Number(f['greatest number']) || 0}]}` },
  never: { label: 'not together', fields: ['ingredient', 'other'], rule: f => `never: [${quoted(f.ingredient)}, ${quoted(f.other)}]` },
  needs: { label: 'one needs another', fields: ['ingredient', 'other'], rule: f => `needs: {if: ${quoted(f.ingredient)}, then: ${quoted(f.other)}}` },
  other: { label: 'as in the file', fields: ['rule'], rule: f => f.rule },
};

let fields = {};

function showFields() {
  const kind = kinds[byId('rule-kind').value];
  fields = {};
  byId('rule-fields').replaceChildren(...kind.fields.map(name => {
    const more = { required: !['least', 'most', 'fewest'].includes(name), oninput: later, size: 12 };
    if (name === 'group') fields[name] = el('select', more, page.problem.groups.map(g => el('option', { value: g }, g)));
    else if (name === 'ingredient' || name === 'other') fields[name] = el('input', { ...more, list: 'names' });
    else fields[name] = el('input', { ...more, placeholder: name === 'rule' ? 'limit: {attribute: cost, max: 12}' : name.includes('e') && /least|most/.test(name) ? 'such as 20%' : '', size: name === 'rule' ? 32 : 10 });
    return el('label', {}, name + ' ', fields[name]);
  }));
  byId('rule-leaves').textContent = '';
}

const ruleText = () => kinds[byId('rule-kind').value].rule(Object.fromEntries(Object.entries(fields).map(([k, e]) => [k, e.value.trim()])));

let timer = 0;
function later() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (!byId('rule-form').checkValidity()) return;
    try {
      const a = await lastLeft(get('/leaves?change=' + encodeURIComponent(JSON.stringify({ do: 'rule', text: ruleText() }))));
      if (!a) return;
      byId('rule-leaves').textContent = a.fault ? shown(a.fault.message + (a.fault.hint ? ': ' + a.fault.hint : '')) : `It leaves ${a.left} of ${a.of} compositions` + (a.draws ? `, and ${a.draws}.` : '.');
    } catch (e) {
      byId('rule-leaves').textContent = shown(e.message);
    }
  }, 150);
}

export function showRules() {
  const p = page.problem;
  byId('left').textContent = `${p.left} compositions keep them.`;
  fill(byId('rules'), p.rules.length ? p.rules.map((r, k) => el('li', {}, el('span', {}, r), ' ', button('drop', () => ask({ do: 'drop', rule: k }), { 'data-key': 'drop ' + k, 'aria-label': `Drop the rule ${shown(r)}` })))
    : el('li', { class: 'soft' }, 'There are none.'));
  const offered = Object.entries(kinds).filter(([, k]) => p.groups.length || !k.fields.includes('group'));
  if (byId('rule-kind').options.length !== offered.length) {
    byId('rule-kind').replaceChildren(...offered.map(([value, k]) => el('option', { value }, k.label)));
    showFields();
  }
  const names = byId('names');
  if (names.dataset.of !== String(p.names.length)) {
    names.dataset.of = p.names.length;
    names.replaceChildren(...p.names.map(n => el('option', { value: n })));
  }
}

// again shows what is steered anew, when there are other draws.
export const again = () => { if (chosen && !byId('dose').hidden && !byId('dose').contains(document.activeElement)) steer(chosen.name, chosen.group, true); };

export function begin() {
  document.addEventListener('steer', e => steer(e.detail));
  byId('find-ingredient').addEventListener('input', showDraws);
  byId('find-ingredient').addEventListener('change', e => { if (page.problem?.names.includes(e.target.value)) steer(e.target.value); });
  byId('rule-kind').addEventListener('change', showFields);
  byId('rule-form').addEventListener('submit', async e => {
    e.preventDefault();
    if (await ask({ do: 'rule', text: ruleText() })) showFields();
  });
}
