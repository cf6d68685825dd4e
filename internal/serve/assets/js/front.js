// The trade-off: recipes none of which beats another on all objectives, as points to click.
// It is there where the answer has one.
import { el, byId, fill, mark, narrow, plain, button, shown } from './dom.js';
import { page, ask } from './state.js';
import { plainRows } from './amounts.js';
import { bar } from './bar.js';
import { colour, key, settings } from './conditions.js';

let at = 0;         // the point that is chosen
let shownOf = null; // the trade-off that is shown
let axes = [0, 1];  // of the objectives, across and up
let coloured = '';   // the condition that colours the points

// about writes a prediction with three digits.
const about = v => Math.abs(v) >= 1000 ? Number(v.toPrecision(3)).toLocaleString('en') : plain(v);

export function showFront() {
  const t = page.list.tradeoff, points = t?.front ?? [];
  byId('front').hidden = !points.length || t.objectives.length < 2;
  if (byId('front').hidden) return;
  const names = t.objectives.map(o => o.name), of = (p, name) => p.values[name].value;
  if (shownOf && shownOf !== t) at = nearest(shownOf.front[at], points, names, of);
  shownOf = t;
  const titles = t.objectives.map(o => shown(o.name + (o.unit ? ', ' + o.unit : '') + ({ maximize: ' (more is better)', minimize: ' (less is better)' }[o.goal] ?? '')));
  axes = axes.map((a, k) => a < names.length ? a : Math.min(k, names.length - 1));
  const words = p => t.objectives.map(o => `${shown(o.name)} ${about(of(p, o.name))}` + (o.unit ? ' ' + shown(o.unit) : '')).join(', ') + (p.best?.length ? `; the best of ${p.best.map(shown).join(' and ')}` : '') + (p.knee ? '; a knee: beyond it, a small gain in one costs much of the other' : '');
  const box = p => el('div', { class: 'box card', role: 'status' }, el('p', {}, el('strong', {}, words(p))), bar(p.recipe, { key: 'front' }), settings(p).length > 0 && el('p', { class: 'set' }, settings(p).join(' · ')), plainRows(p.recipe),
    button('More like this', () => ask({ do: 'near', recipe: p.recipe, changes: 2 }), { 'data-key': 'front on', class: 'control' }));
  const head = [el('h3', {}, 'Trade-off'), !page.list.settled && el('p', { class: 'small provisional' }, 'First results; a longer search is running.')];
  if (points.length === 1) {
    return fill(byId('front'), head, el('p', {}, `No trade-off: one recipe is the best in ${names.join(' and ')}.`), box(points[0]));
  }
  const W = narrow.matches ? 290 : 420, H = 300, L = 56, B = H - 42; // at least as wide on the screen, so that text stays as large
  const scale = (name, from, to) => {
    const all = points.map(p => of(p, name)), lo = Math.min(...all), hi = Math.max(...all);
    return { lo, hi, at: v => from + (hi > lo ? (v - lo) / (hi - lo) : 0.5) * (to - from) };
  };
  const x = scale(names[axes[0]], L + 16, W - 20), y = scale(names[axes[1]], B - 14, 16);
  const svg = mark('svg', { viewBox: `0 0 ${W} ${H}`, role: 'radiogroup', 'aria-label': `Trade-off of ${names.map(shown).join(' and ')}: ${points.length} recipes none of which beats another` });
  svg.append(mark('line', { x1: L, x2: W - 10, y1: B, y2: B }), mark('line', { x1: L, x2: L, y1: 10, y2: B }));
  for (const [v, end] of [[x.lo, 'start'], [x.hi, 'end']]) svg.append(mark('text', { x: x.at(v), y: B + 16, 'text-anchor': end }, about(v)));
  for (const v of [y.lo, y.hi]) svg.append(mark('text', { x: L - 6, y: y.at(v) + 4, 'text-anchor': 'end' }, about(v)));
  svg.append(mark('text', { x: (L + W) / 2, y: H - 6, 'text-anchor': 'middle' }, titles[axes[0]]), mark('text', { x: L, y: 9 }, titles[axes[1]]));
  const by = page.problem.conditions.find(c => c.name === coloured);
  const choose = k => { at = k; showFront(); byId('front').querySelector('[aria-checked="true"]').focus(); };
  points.forEach((p, k) => {
    // A point is small, and what is hit is larger.
    const place = { cx: x.at(of(p, names[axes[0]])), cy: y.at(of(p, names[axes[1]])) }, dot = mark('circle', { ...place, r: k === at ? 9 : 6 });
    const point = mark('g', { class: 'at' + (p.knee ? ' knee' : ''), role: 'radio', tabindex: k === at ? 0 : -1, 'aria-checked': String(k === at), 'aria-label': words(p) });
    point.append(dot, mark('circle', { ...place, r: 12, class: 'hit' }));
    if (by && by.values.includes(p.conditions?.[by.name])) dot.style.fill = colour(by.number, by.values.indexOf(p.conditions[by.name]), by.values.length);
    point.addEventListener('click', () => choose(k));
    point.addEventListener('keydown', e => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      choose((k + step + points.length) % points.length);
    });
    svg.append(point);
  });
  const axis = k => el('label', {}, k ? 'Up ' : 'Across ', el('select', { 'data-key': 'axis ' + k, onchange: e => { axes[k] = Number(e.target.value); showFront(); } },
    names.map((n, i) => el('option', { value: i, selected: i === axes[k] }, n))));
  const shades = page.problem.conditions.length > 0 && el('label', {}, 'Colour by ', el('select', { 'data-key': 'front colour', onchange: e => { coloured = e.target.value; showFront(); } },
    el('option', { value: '' }, 'nothing'), page.problem.conditions.map(c => el('option', { value: c.name, selected: c.name === coloured }, c.name))));
  const p = points[at];
  fill(byId('front'), head, (names.length > 2 || shades) && el('div', { class: 'tools control' }, names.length > 2 && [axis(0), axis(1)], shades), by && el('ul', { class: 'plain key', 'aria-label': 'Colours of the trade-off' }, key(by.number, by.texts)),
    el('div', { class: 'front' }, el('div', {}, svg), box(p)));
}

// nearest returns which point is most like one of another front, so that what was chosen stays
// chosen where a better front takes the place of a first look.
function nearest(was, points, names, of) {
  if (!was || names.some(n => !was.values[n])) return 0;
  const width = names.map(n => Math.max(...points.map(p => of(p, n))) - Math.min(...points.map(p => of(p, n))) || 1);
  const away = points.map(p => names.reduce((sum, n, k) => sum + ((of(p, n) - of(was, n)) / width[k]) ** 2, 0));
  return Math.max(0, away.indexOf(Math.min(...away))); // where a value is not known, the first
}
