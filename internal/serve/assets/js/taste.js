// Comparisons: which of two recipes is liked better.
import { el, byId, fill, button, shown } from './dom.js';
import { ask, get, say, newest } from './state.js';
import { plainRows } from './amounts.js';
import { bar } from './bar.js';

const percent = v => Math.round(100 * v) + ' %';

const lastPair = newest();
let question = null;

async function next() {
  let pair;
  try {
    pair = await lastPair(get('/pair'));
  } catch (e) {
    return say(e.message);
  }
  if (!pair) return;
  question = pair;
  byId('taste-about').textContent = question.asked
    ? shown(question.about) + `. The chance that you prefer the first recipe is ${percent(question.expected)}.`
    : 'Which of the two do you like better?';
  byId('taste-begin').textContent = 'Another pair';
  const side = (of, better, worse, key) => el('div', { class: 'card box' }, bar(of),
    plainRows(of), el('p', {}, button('I like this one better', () => answer(better, worse), { class: 'main', 'data-key': key })));
  fill(byId('taste'), side(question.a, question.a, question.b, 'a'), side(question.b, question.b, question.a, 'b'));
}

async function answer(better, worse) {
  const buttons = byId('taste').querySelectorAll('button');
  for (const b of buttons) b.disabled = true;
  if (await ask({ do: 'prefer', better, worse })) return next();
  for (const b of buttons) b.disabled = false; // so that the answer can be given again
}

export function begin() {
  byId('taste-begin').addEventListener('click', next);
}
