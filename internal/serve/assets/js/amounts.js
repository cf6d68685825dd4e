// Amounts in the units of the table, to what a scale or a jigger has, and colours.
import { el, byId, entire } from './dom.js';
import { page } from './state.js';
import { keep, kept } from './drafts.js';
import { typedUnits } from './typed.js';
import { inUnit, percentages, steps } from './written.js';

// shares writes the amounts of a list of units that make up a recipe in percent; share one
// alone.
export const shares = units => percentages(units, page.problem.total, page.problem.total === 100 ? 0 : 1);
export const share = units => shares([units])[0];

// chosen is the unit that was chosen, one of those that the server names.
const chosen = () => page.problem.units.find(u => u.name === byId('unit').value) ?? page.problem.units[0];

const fractions = { 0.25: '¼', 0.5: '½', 0.75: '¾' };

// stepped writes how many steps there are of something; what is less than half of one is not
// nothing.
function stepped(count, units, step) {
  if (count === 0 && units > 0) return '<' + (fractions[step] ?? String(step));
  const n = count * step, whole = Math.floor(n + 1e-9), rest = n - whole;
  if (step === 0.25 || step === 0.5) return (rest < 1e-9 ? String(whole) : (whole || '') + fractions[Math.round(rest * 4) / 4]);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return n.toFixed(digits === 0 && step % 1 ? 1 : digits);
}

// amountsOf writes a list of units that make up a recipe as was chosen: in percent, or of a
// batch in a unit, to a step.
export function amountsOf(units) {
  const u = chosen();
  if (u.name === '%') return shares(units).map(text => text + ' %');
  const step = Number(byId('step').value), count = Math.round((Number(byId('batch').value) || 0) / step);
  return steps(units, page.problem.total, count).map((n, k) => stepped(n, units[k], step) + ' ' + u.name);
}

// amount writes units alone.
export const amount = units => amountsOf([units])[0];

// amounts writes a recipe: each ingredient, the largest amount first, its units and its amount
// as text.
export function amounts(recipe) {
  const all = parts(recipe), texts = amountsOf(all.map(([, units]) => units));
  return all.map(([name, units], k) => [name, units, texts[k]]);
}

// wholes lists the units with how much of each the whole has that is shown: where a batch is shown in
// one unit, the others follow it.
function wholes() {
  const u = chosen(), times = u.name === '%' ? 1 : (Number(byId('batch').value) || u.whole) / u.whole;
  return page.problem.units.map(v => ({ name: v.name, whole: v.name === '%' ? 100 : v.whole * times }));
}

// typed reads an amount that a person typed: {units} or {wrong}.
export const typed = text => typedUnits(text, page.problem.total, wholes(), chosen().name);

// field writes an amount into a field, as it is read again.
export function field(units) {
  const u = wholes().find(v => v.name === chosen().name);
  return `${inUnit(units, page.problem.total, u.whole)} ${u.name}`;
}

// isVolume says whether amounts are shown in a unit of volume.
export const isVolume = () => chosen().volume;

// batch says how much is made, for a weighing sheet: of a problem in percent 100 g.
export const batch = () => chosen().name === '%' ? { size: '100 g', step: '0.1' } : { size: `${byId('batch').value} ${chosen().name}`, step: byId('step').value };

// showUnits offers the units of the problem.
export function showUnits() {
  const units = page.problem.units, was = byId('unit').value, names = units.map(u => u.name);
  if (byId('unit').dataset.of === names.join()) return;
  byId('unit').dataset.of = names.join();
  byId('unit').replaceChildren(...units.map(u => el('option', { value: u.name }, u.name === '%' ? 'percent' : u.name)));
  const before = kept('amounts');
  byId('unit').value = [was, before?.unit, names[0]].find(n => names.includes(n));
  take();
  if (before?.unit !== byId('unit').value) return;
  byId('batch').value = before.batch;
  if ([...byId('step').options].some(o => o.value === before.step)) byId('step').value = before.step;
}

// showAttribute offers to colour by the attribute that groups ingredients, where there is one.
export function showAttribute() {
  const p = page.problem, by = byId('colour-by');
  byId('colour-label').hidden = !p.groups.length;
  if (by.options[1]?.value === p.attribute) return;
  by.replaceChildren(...['', ...p.groups.length ? [p.attribute] : []].map(of => el('option', { value: of }, of || 'ingredient')));
  by.value = p.groups.length && kept('colour') === p.attribute ? p.attribute : '';
}

// byAttribute says whether colours stand for the groups of ingredients.
export const byAttribute = () => page.problem.groups.length > 0 && byId('colour-by').value !== '';

// take shows how much there is of the unit that was chosen, and its steps.
function take() {
  const u = chosen();
  byId('batch-label').hidden = byId('step-label').hidden = u.name === '%';
  byId('batch').value = u.whole;
  byId('step').replaceChildren(...u.steps.map(s => el('option', { value: s }, (fractions[s] ?? s) + ' ' + u.name)));
}

// begin calls changed when amounts or colours are to be shown otherwise.
export function begin(changed) {
  const store = () => {
    keep('amounts', { unit: byId('unit').value, batch: byId('batch').value, step: byId('step').value });
    changed();
  };
  byId('unit').addEventListener('change', () => { take(); store(); });
  byId('batch').addEventListener('input', store);
  byId('step').addEventListener('change', store);
  byId('colour-by').addEventListener('change', () => { keep('colour', byId('colour-by').value || null); changed(); });
}

// colour is the class of an ingredient's colour: its own, or its group's where that was chosen. The
// server gives colours, so that they stay from step to step.
export function colour(name) {
  const p = page.problem;
  if (byAttribute()) return groupColour(p.members[name]);
  return 'c' + (page.list?.colours[name] ?? page.campaign?.colours[name] ?? p.grey);
}

export const groupColour = group => 'c' + (page.problem.colours[group] ?? page.problem.grey);

export const swatch = name => el('span', { class: 'swatch ' + colour(name) });

export const parts = recipe => Object.entries(recipe).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));

// plainRows are the ingredients of a recipe, to be read.
export const plainRows = recipe => el('ul', { class: 'parts' }, amounts(recipe).map(([n, , text]) =>
  el('li', {}, el('span', { class: 'row' }, swatch(n), el('span', { class: 'name', title: entire(n) }, n), el('span', { class: 'amount' }, text)))));
