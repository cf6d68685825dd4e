// The ingredients: how the draws use them, and how much of one there may be.
import { el, byId, fill, fixed, button, mark, narrow, shown, entire } from './dom.js';
import { page, ask, get, say, newest } from './state.js';
import { field, typed } from './amounts.js';

const percent = v => Math.round(v * 1000) / 10 + '%';

// rough writes an amount to three figures, at an axis.
const rough = (v, total) => {
  const [number, unit] = field(Math.round(v * total)).split(' ');
  return `${Number(Number(number).toPrecision(3))} ${unit}`;
};

// bound writes the end of a range, which is of whole units.
const bound = (v, total) => field(Math.min(total, Math.round(v * total)));

const lastDose = newest();
let chosen = null; // the ingredient or group that is steered: {name, group}
let redraw = () => {}; // draws its distribution as wide as the window is

const fewRows = 12; // of ingredients, that are shown at first
let whole = false;  // whether all are

// showNames offers the ingredients wherever one is typed.
export function showNames() {
  const names = byId('names'), all = page.problem.names;
  if (names.dataset.of !== String(all.length)) {
    names.dataset.of = all.length;
    names.replaceChildren(...all.map(n => el('option', { value: n })));
  }
}

export function showDraws() {
  const d = page.draws;
  if (!d || !page.problem || d.step !== page.state.step) return;
  byId('draws-why').textContent = `${d.why} These figures come from ${d.made.toLocaleString('en')} draws for this page` + (d.from ? `, begun from ${d.from.toLocaleString('en')} draws of the step before.` : '.');
  byId('draws-why').className = 'small ' + (d.reliable ? '' : 'provisional');
  const wanted = byId('find-ingredient').value.trim().toLowerCase();
  const rows = d.ingredients.filter(r => !wanted || r.name.toLowerCase().includes(wanted));
  const row = (name, used, mean) => el('tr', {},
    el('th', { scope: 'row' }, button(name, () => steer(name), { class: 'link', title: entire(name), 'data-key': 'row ' + name })), el('td', { class: 'n' }, used), el('td', { class: 'n' }, mean));
  const found = page.problem.names.filter(n => wanted && n.toLowerCase().includes(wanted) && !rows.some(r => r.name === n)).slice(0, 20);
  const few = whole || wanted ? rows : rows.slice(0, fewRows);
  byId('ingredients-all').hidden = few.length === rows.length;
  byId('ingredients-all').textContent = `Show all ${rows.length}`;
  fill(byId('ingredients').tBodies[0], few.map(r => row(r.name, `${fixed(100 * r.used, 1)} ± ${r.se === null ? '?' : fixed(100 * r.se, 1)}`, fixed(100 * r.mean, 1))),
    found.map(n => row(n, 'rare', '')), d.unlisted && !wanted && few.length === rows.length ? el('tr', {}, el('th', { scope: 'row', class: 'soft' }, `and ${d.unlisted} more`), el('td'), el('td')) : null);
  byId('groups-part').hidden = !d.groups.length;
  byId('groups-head').textContent = 'Groups: ' + shown(page.problem.attribute);
  fill(byId('groups').tBodies[0], d.groups.map(g => {
    const move = up => {
      const from = up ? Math.min(0.95, Math.max(g.mean * 1.5, 0.05)) : null, to = up ? null : Math.max(0, g.mean * 0.5);
      ask({ do: 'group', attribute: g.attribute, value: g.value, min: up ? percent(from) : '', max: up ? '' : percent(to) });
    };
    return el('tr', {}, el('th', { scope: 'row' }, g.value), el('td', { class: 'n' }, fixed(100 * g.mean, 1)), el('td', { class: 'n' }, `${fixed(100 * g.q5, 0)} – ${fixed(100 * g.q95, 0)}`),
      el('td', { class: 'acts' }, el('div', { class: 'small-tools' }, button('More', () => move(true), { 'data-key': 'more ' + g.value, 'aria-label': `More ${shown(g.value)}: at least half as much again` }),
        button('Less', () => move(false), { 'data-key': 'less ' + g.value, 'aria-label': `Less ${shown(g.value)}: at most half` }),
        button('Range', () => steer(g.value, true), { 'data-key': 'range ' + g.value, 'aria-label': `range of ${shown(g.value)}` }))));
  }));
}

// steer shows the distribution of an ingredient's or a group's amount.
export async function steer(name, group = false, quiet = false) {
  chosen = { name, group };
  let d;
  try {
    d = await lastDose(get((group ? '/amounts?group=' : '/amounts?of=') + encodeURIComponent(name)));
  } catch (e) {
    if (!quiet) say(e.message);
    return;
  }
  if (!d) return;
  const send = (min, max) => {
    const ends = [min, max].map(text => text.trim() ? typed(text) : { units: '' }), wrong = ends.find(e => e.wrong);
    if (wrong) return say(wrong.wrong);
    const [least, most] = ends.map(e => String(e.units));
    return done(group ? { do: 'group', attribute: page.problem.attribute, value: name, min: least, max: most } : { do: 'dose', ingredient: name, min: least, max: most });
  };
  const low = el('input', { value: bound(d.low, d.total), size: 7, 'data-key': 'dose low' }), high = el('input', { value: bound(d.high, d.total), size: 7, 'data-key': 'dose high' });
  const box = byId('dose'), close = button('Close', () => box.close());
  const { required, excluded } = page.problem;
  const drawn = () => d.bins.length ? histogram(d, low, high, () => send(low.value, high.value)) : el('p', { class: 'soft' }, 'No draw uses this ' + (group ? 'group.' : 'ingredient.'));
  let picture = drawn();
  redraw = () => {
    const typed = [low.value, high.value], next = drawn();
    picture.replaceWith(next);
    picture = next;
    [low.value, high.value] = typed;
  };
  fill(byId('dose-body'), el('h2', { id: 'dose-head' }, name), el('p', { class: 'small' }, `${fixed(100 * d.used, 1)} % of the draws use this ${group ? 'group' : 'ingredient'}. Drag the ends to limit its ` + (group ? 'total.' : 'amount where it is used.')),
    picture,
    el('form', { class: 'tools', onsubmit: e => { e.preventDefault(); send(low.value, high.value); } },
      el('label', {}, 'from ', low), el('label', {}, 'to ', high), el('button', { class: 'main' }, 'Apply limits'),
      !group && [button('Pin', () => done({ do: 'pin', ingredient: name }), { 'data-key': 'dose pin', 'aria-pressed': String(required.includes(name)) }),
        button('Ban', () => done({ do: 'ban', ingredient: name }), { 'data-key': 'dose ban', 'aria-pressed': String(excluded.includes(name)) })], close));
  if (box.open) return;
  box.showModal();
  say('');
}

// done asks for a change and closes the window of an ingredient.
async function done(request) {
  if (await ask(request)) byId('dose').close();
}

// histogram draws the amounts with a handle at each end, which is a slider.
function histogram(d, low, high, done) {
  const W = Math.max(220, Math.min(innerWidth - 40, innerWidth * 0.96, 704) - 48), H = 124, B = 92, L = 26, R = W - 26; // as wide as on the screen
  const svg = mark('svg', { viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': `Distribution of the amount of ${shown(d.name)}` });
  const top = Math.max(...d.bins), width = (R - L) / d.bins.length;
  const at = v => L + (v - d.low) / (d.high - d.low) * (R - L);
  const bars = d.bins.map((n, k) => svg.appendChild(mark('rect', { x: L + k * width, y: B - n / top * (B - 8), width: Math.max(1, width - 1), height: n / top * (B - 8), class: 'mark' })));
  svg.append(mark('line', { x1: L, x2: R, y1: B, y2: B }));
  for (let k = 0; k <= 4; k++) {
    const v = d.low + k / 4 * (d.high - d.low);
    if (k % 2 && narrow.matches) continue;
    svg.append(mark('text', { x: at(v), y: H - 8, 'text-anchor': 'middle' }, rough(v, d.total)));
  }
  const ends = [d.low, d.high];
  const handles = [0, 1].map(k => svg.appendChild(mark('rect', { y: 2, width: 24, height: B - 2, rx: 3, class: 'handle', role: 'slider', tabindex: 0, 'data-key': 'handle ' + k,
    'aria-label': k ? 'Greatest amount' : 'Least amount', 'aria-valuemin': parseFloat(bound(d.low, d.total)), 'aria-valuemax': parseFloat(bound(d.high, d.total)), 'fill-opacity': 0.75 })));
  const draw = () => {
    ends.forEach((v, k) => {
      handles[k].setAttribute('x', at(v) - (k ? 0 : 24));
      handles[k].setAttribute('aria-valuenow', parseFloat(bound(v, d.total)));
      handles[k].setAttribute('aria-valuetext', bound(v, d.total));
      (k ? high : low).value = bound(v, d.total);
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

// again shows what is steered anew, when there are other draws.
export const again = () => { if (chosen && byId('dose').open && !byId('dose-body').contains(document.activeElement) && !byId('dose').lastElementChild.textContent) steer(chosen.name, chosen.group, true); };

export function begin() {
  document.addEventListener('steer', e => steer(e.detail));
  addEventListener('resize', () => redraw());
  byId('find-ingredient').addEventListener('input', showDraws);
  byId('ingredients-all').addEventListener('click', () => { whole = true; showDraws(); });
  byId('find-ingredient').addEventListener('change', e => { if (page.problem?.names.includes(e.target.value)) steer(e.target.value); });
}
