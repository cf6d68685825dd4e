// The conditions: what a trial sets beside the recipe, each chosen with the recipes or kept at a value.
import { el, byId, fill, button } from './dom.js';
import { page, ask } from './state.js';

const set = (c, value) => ask({ do: 'set', condition: c.name, set: value });

// slider is a slider over the values of a number. It keeps the condition where it is let go.
function slider(c) {
  const at = c.given === null ? Math.floor(c.values.length / 2) : Math.max(0, c.values.indexOf(c.given));
  const value = el('output', {}, c.given === null ? 'any' : c.texts[at]);
  const range = el('input', { type: 'range', min: 0, max: c.values.length - 1, step: 1, 'data-key': 'set ' + c.name, 'aria-label': 'Keep at: ' + c.name, 'aria-valuetext': value.textContent,
    oninput: () => { value.textContent = c.texts[range.value]; range.setAttribute('aria-valuetext', c.texts[range.value]); },
    onchange: () => set(c, c.values[range.value]) });
  range.value = at; // once the bounds are known
  return [el('span', { 'aria-hidden': 'true' }, 'Keep at'), range, value];
}

// menu is a menu of categories.
function menu(c) {
  const s = el('select', { 'data-key': 'set ' + c.name, 'aria-label': 'Keep at: ' + c.name, onchange: () => set(c, s.value === '' ? null : c.values[Number(s.value)]) },
    el('option', { value: '' }, 'any'), c.texts.map((t, k) => el('option', { value: String(k) }, t)));
  s.value = c.given === null ? '' : String(c.values.indexOf(c.given));
  return [el('span', { 'aria-hidden': 'true' }, 'Keep at'), s];
}

// showConditions shows each condition with its control, and what the draws have of it.
export function showConditions() {
  const all = page.problem.conditions, d = page.draws?.step === page.state.step ? page.draws : null;
  byId('conditions-head').hidden = byId('conditions').hidden = !all.length;
  const focused = document.activeElement;
  if (focused?.type === 'range' && byId('conditions').contains(focused)) return; // it is being moved
  fill(byId('conditions'), all.map(c => {
    const drawn = d?.conditions.find(r => r.name === c.name)?.text;
    return el('li', {}, el('details', { 'data-key': 'condition ' + c.name },
      el('summary', {}, el('strong', {}, c.name), c.given === null ? (drawn ? ` ${drawn}` : ' any') : ` kept at ${c.texts[c.values.indexOf(c.given)]}`),
      el('div', { class: 'tools' }, c.number ? slider(c) : menu(c), c.given !== null && button('Let kir choose', () => set(c, null), { 'data-key': 'free ' + c.name, 'aria-label': `Let kir choose: ${c.name} with the recipes` }))));
  }));
}

// colour is that of the k-th of n values: from blue to orange for numbers, all around for categories.
export const colour = (number, k, n) => `hsl(${number ? 230 - 200 * k / Math.max(1, n - 1) : 20 + 360 * k / n} 70% 45%)`;

// key says what the colours of a condition stand for: the ends and the middle of a number, or each category.
export function key(number, texts) {
  const last = texts.length - 1;
  const values = number ? [...new Set([0, Math.floor(last / 2), last])] : texts.map((_, k) => k).slice(0, 24);
  return values.map(k => {
    const s = el('span', { class: 'swatch' });
    s.style.background = colour(number, k, texts.length);
    return el('li', {}, s, texts[k]);
  });
}

// range of a condition that is as good, as in "185 °C (180 to 190)".
const settingText = (c, b) => {
  const value = b.conditions[c.name], range = b.condition_ranges?.[c.name], k = c.values.indexOf(value);
  const text = `${c.name} ${k < 0 ? `${value} ${c.unit}`.trim() : c.texts[k]}`;
  return text + (range ? ` (${range.low} to ${range.high})` : '') + (c.given !== null ? ', kept' : '');
};

// settings writes what to set for a recipe, one text for each condition.
export const settings = b => page.problem.conditions.filter(c => b.conditions && c.name in b.conditions).map(c => settingText(c, b));
