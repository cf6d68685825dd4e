// The steps, and the problem as a file.
import { el, byId, fill, button, shown } from './dom.js';
import { page, ask, get, say, newest } from './state.js';
import { parts, shares } from './amounts.js';
import { keep, kept } from './drafts.js';
import { score } from './written.js';
import { served } from './server.js';

const title = s => s.name || s.change;

export function showSteps() {
  const { steps, step, made } = page.state;
  const now = steps.find(s => s.id === step);
  byId('back').disabled = !now?.parent;
  // The first steps that are shown are those last made.
  fill(byId('steps'), [...steps].reverse().map(s => {
    const name = el('input', { value: s.name, size: 16, placeholder: 'a name', 'aria-label': `Name of step ${s.id}`, 'data-key': 'name ' + s.id,
      onchange: () => ask({ do: 'name', step: s.id, text: name.value }) });
    return el('li', { 'aria-current': s.id === step ? 'step' : null },
      el('div', {}, el('strong', {}, `${s.id}. ${title(s)}`), s.name ? ` (${s.change})` : '', s.parent && s.parent !== s.id - 1 ? ` from step ${s.parent}` : ''),
      el('div', { class: 'small-tools' },
        s.id === step ? el('span', { class: 'small soft' }, 'shown now') : button('Go there', () => ask({ do: 'back', step: s.id }), { 'data-key': 'to ' + s.id, 'aria-label': `Go there, to step ${s.id}` }),
        s.id !== step && button('Compare', () => compare(s), { 'data-key': 'compare ' + s.id, 'aria-label': `Compare with step ${s.id}` }), name));
  }), made > steps.length && el('li', { class: 'soft small' }, `${made - steps.length} earlier steps are kept beside the problem file.`));
}

const setOf = b => parts(b.recipe).map(([n]) => n).sort().join('\u0000');

const lastCompared = newest(), lastText = newest();

async function compare(s) {
  let both;
  try {
    both = await lastCompared(Promise.all([get('/list?step=' + s.id), get(`/text?step=${page.state.step}&against=${s.id}`)]));
  } catch (e) {
    return say(e.message);
  }
  if (!both) return;
  if (!page.list) return say('There is no shortlist yet to compare with.');
  const [other, text] = both;
  const here = page.list.entries, there = other.entries;
  const has = (list, b) => list.some(c => setOf(c) === setOf(b));
  const mean = l => l.length ? score(l.reduce((sum, b) => sum + b.score, 0) / l.length) : '?';
  const line = b => {
    const all = parts(b.recipe), percents = shares(all.map(([, units]) => units));
    return all.map(([n], k) => `${percents[k]} ${n}`).join(', ') + `: ${score(b.score)}`;
  };
  const list = (head, sign, all) => [el('h3', {}, `${head}: ${all.length}`), el('ul', { class: 'plain small ' + sign }, all.map(b => el('li', {}, line(b))))];
  fill(byId('compared'), el('div', { class: 'box' }, el('h3', {}, `Compared with step ${s.id}: ${title(s)}`),
    !page.list.settled || !other.settled ? el('p', { class: 'provisional small' }, 'One of the two shortlists is not final yet.') : null,
    el('p', {}, `Mean score: ${mean(there)} in step ${s.id}, ${mean(here)} in this step. Recipes with the same ingredients in both: ${here.filter(b => has(there, b)).length}.`),
    list('Only in this step', 'came', here.filter(b => !has(there, b))), list(`Only in step ${s.id}`, 'went', there.filter(b => !has(here, b))),
    el('pre', { tabindex: 0, role: 'region', 'aria-label': 'The difference of the files' }, text.difference || 'The problems are the same.'), button('Close', () => fill(byId('compared')))));
}

async function showText(whole) {
  const t = await lastText(get('/text'));
  if (!t) return;
  byId('text-shown').hidden = false;
  byId('difference').hidden = whole;
  byId('text-form').hidden = !whole;
  byId('difference').textContent = t.difference ? shown(t.difference) : 'No changes since the first step.';
  // A text that was being changed stays until it is taken, at the step that it was changed at.
  const draft = kept('text');
  byId('text').value = draft?.step === page.state.step ? draft.text : t.text;
}

let open = null; // what of the text is shown

export function showFile() {
  if (!page.state) return; // it is on its way, and is shown when it comes
  if (!byId('save-name').value) byId('save-name').value = page.state.file.replace(/\.ya?ml$/, '') + '-steered.yaml';
  if (open === null && kept('text')?.step === page.state.step) open = true;
  if (open !== null && document.activeElement !== byId('text')) showText(open).catch(e => say(e.message));
}

export function begin() {
  byId('back').addEventListener('click', () => {
    const now = page.state?.steps.find(s => s.id === page.state.step);
    if (now?.parent) ask({ do: 'back', step: now.parent });
  });
  byId('show-difference').addEventListener('click', () => { open = false; showFile(); });
  byId('show-text').addEventListener('click', () => { open = true; showFile(); });
  byId('text').addEventListener('input', () => keep('text', { step: page.state.step, text: byId('text').value }));
  byId('text-form').addEventListener('submit', async e => {
    e.preventDefault();
    if (await ask({ do: 'text', step: page.state.step, text: byId('text').value })) keep('text', null);
  });
  byId('save').addEventListener('submit', async e => {
    e.preventDefault();
    if (!page.state) return say('The problem is being read.');
    const answer = await ask({ do: 'save', step: page.state.step, text: byId('save-name').value, over: byId('save-over').checked });
    if (answer) byId('saved').textContent = served ? shown(`Saved. kir sample ${answer.text} gives the same shortlist.`) : 'Saved. “Save all as a file” gives it to you.';
  });
}
