// The campaign: the next batch with its reasons, results beside each recipe, and where it
// stands.
import { el, byId, fill, plain, button, dialog, drawing, shown } from './dom.js';
import { page, ask, send, open } from './state.js';
import { keep, kept } from './drafts.js';
import { amounts, batch, isVolume, plainRows } from './amounts.js';
import { bar } from './bar.js';
import { offer } from './tabs.js';
import { whole } from './written.js';

const trials = new Map(); // by id: the card of a recipe of a batch, which stays while it is typed in
let labels = '';          // that the cards are for

const said = { made: 'Recorded', failed: 'Failed', withdrawn: 'Withdrawn', waits: 'Waits for a result', '': 'Made under another id' };

// result sends what came of recipes, and says at the first of them what is wrong.
async function result(results, more, last = false) {
  const answer = await send({ do: 'record', results, ...more }, last);
  const first = trials.get(results[0].id);
  if (first) first.wrong(!answer.gone ? answer.wrong ?? '' : results[0].values ? 'Not recorded yet: kir does not answer. The result is kept in this browser until it does.' : 'Not recorded: ' + answer.wrong, answer.gone);
  byId('recorded').textContent = answer.wrong ? '' : shown([answer.text, ...(answer.notes ?? [])].join('. ') + '.');
  return !answer.wrong;
}

// prediction writes what is expected of a label with its interval: a number, or the probability of a
// class, as in the shortlist.
function prediction(name, q) {
  const of = page.campaign.classes[name];
  return of ? `${name} ${of} ${whole(q.value)} % (${whole(q.low)} to ${whole(q.high)} %)` : `${name} ${plain(q.value)} (${plain(q.low)} to ${plain(q.high)})`;
}

// same says whether two texts of a field are one value.
const same = (a = '', b = '') => a === b || a !== '' && b !== '' && Number(a.replace(',', '.')) === Number(b.replace(',', '.'));

// commit records what was typed in the fields of recipes.
async function commit(of, last) {
  const typed = of.map(t => [t, t.typed()]).filter(([, values]) => Object.keys(values).length);
  if (typed.length && await result(typed.map(([t, values]) => ({ id: t.id, values })), {}, last)) for (const [t, values] of typed) t.recorded(values);
}

// resend records what was typed while nobody answered.
export async function resend() {
  for (const t of trials.values()) if (!t.overtaken()) await commit([t]);
}

// trial makes the card of a recipe, and returns what updates it.
function trial(t) {
  const names = page.campaign.labels, draft = 'result ' + t.id, of = JSON.stringify(t.recipe);
  let known = t.values, overtaken = false; // by a result that was recorded after the draft was typed
  const status = el('p', { class: 'status small soft', id: 'status-' + t.id, role: 'status' });
  const inputs = names.map(l => {
    const i = el('input', { inputmode: l.numeric ? 'decimal' : 'text', autocomplete: 'off', 'data-key': `result ${t.id} ${l.name}`, 'aria-describedby': status.id, onchange: () => commit([card]) });
    i.addEventListener('input', () => mark(i));
    i.addEventListener('paste', e => paste(e, t.id, l.name));
    i.addEventListener('keydown', e => {
      if (e.key !== 'Enter') return;
      e.preventDefault(); // or what gets the focus is pressed
      if (overtaken) commit([card]);
      next(i);
    });
    return i;
  });
  // What stands in the fields counts, as soon as it is written.
  const typed = () => inputs.some(i => i.dataset.typed) ? Object.fromEntries(names.map((l, k) => [l.name, inputs[k].value.trim()]).filter(([, v]) => v)) : {};
  const keepDraft = () => {
    const values = Object.fromEntries(names.map((l, k) => [l.name, inputs[k].value]).filter((_, k) => inputs[k].dataset.typed));
    keep(draft, Object.keys(values).length ? { of, values, was: Object.fromEntries(Object.keys(values).map(n => [n, known[n] ?? ''])) } : null);
  };
  const mark = i => {
    i.dataset.typed = '1';
    keepDraft();
  };
  const forget = of => {
    for (const i of of) delete i.dataset.typed;
    overtaken = false;
    keepDraft();
  };
  const card = {
    id: t.id, typed, overtaken: () => overtaken,
    recorded: values => forget(inputs.filter((i, k) => i.value.trim() === (values[names[k].name] ?? ''))),
    write: values => names.forEach((l, k) => { if (values[l.name]) { inputs[k].value = values[l.name]; mark(inputs[k]); } }),
  };
  const instead = async (results, more) => { if (await result(results, more)) forget(inputs); };
  const failed = button('Failed', () => instead([{ id: t.id, failed: true }]), { 'data-key': 'failed ' + t.id, 'aria-label': `Failed: nothing of recipe ${t.id} can be measured` });
  const drop = button('Not made', () => instead([{ id: t.id }], { withdraw: true }), { class: 'quiet', 'data-key': 'drop ' + t.id, 'aria-label': `Not made: leave out recipe ${t.id}` });
  const expects = el('p', { class: 'small' }), body = el('div', {});
  const e = el('li', { class: 'card', 'data-trial': t.id },
    el('div', { class: 'head' }, el('h3', { class: 'number' }, t.id)), el('p', { class: 'reason' }, t.reason), body, t.set && el('p', { class: 'set' }, t.set), expects,
    el('div', { class: 'results control', role: 'group', 'aria-label': `Results of recipe ${t.id}` }, inputs.map((i, k) => el('label', names[k].set ? { class: 'set-field' } : {}, names[k].name + (names[k].unit ? `, ${names[k].unit}` : ''), i)), el('div', { class: 'small-tools' }, failed, drop)), status);
  const expected = Object.entries(t.predicted ?? {});
  expects.textContent = shown(expected.length ? 'Expected: ' + expected.map(([n, q]) => prediction(n, q)).join(', ') + (t.limits ?? []).map(l => '; ' + l).join('') : '');
  const wrong = (words, later) => {
    if (words) status.textContent = shown(words);
    status.className = 'status small ' + (words ? 'provisional' : 'soft');
    for (const i of inputs) i.toggleAttribute('aria-invalid', false);
    if (words && !later) for (const i of inputs) if (i.dataset.typed) i.setAttribute('aria-invalid', 'true');
  };
  const update = t => {
    e.className = 'card ' + t.status;
    fill(body, bar(t.recipe), plainRows(t.recipe));
    known = t.values;
    if (!overtaken && !inputs.some(i => i.hasAttribute('aria-invalid'))) {
      const values = names.map(l => t.values[l.name]).some(v => v) ? ': ' + names.filter(l => t.values[l.name]).map(l => `${l.name} ${t.values[l.name]}`).join(', ') : '';
      status.textContent = shown((said[t.status] ?? t.status) + values);
    }
    inputs.forEach((i, k) => { if (!i.dataset.typed) i.value = t.values[names[k].name] ?? t.offered?.[names[k].name] ?? ''; });
    failed.setAttribute('aria-pressed', String(t.status === 'failed'));
    drop.hidden = t.status === 'withdrawn';
  };
  // What was typed before and not recorded stands in the fields again, and is recorded, unless
  // something else was recorded meanwhile.
  const before = kept(draft);
  if (before?.of === of) {
    names.forEach((l, k) => {
      const value = before.values[l.name];
      if (value === undefined || same(value, t.values[l.name])) return;
      inputs[k].value = value;
      inputs[k].dataset.typed = '1';
      if (same(before.was[l.name], t.values[l.name])) return;
      overtaken = true;
      wrong(`Not recorded: ${l.name} ${value} was typed here, and ${t.values[l.name] || 'nothing'} was recorded since. Press Enter to record the value in the field.`, true);
    });
    if (!overtaken) setTimeout(() => commit([card]));
  }
  return Object.assign(card, { e, update, wrong });
}

// next goes from a field to the one below.
function next(i) {
  const all = [...byId('batches').querySelectorAll('.results input')];
  const of = i.dataset.key.split(' ').slice(2).join(' '), column = all.filter(j => j.dataset.key.endsWith(' ' + of));
  (column[column.indexOf(i) + 1] ?? byId('next')).focus();
}

// paste spreads a block of cells over the fields, from the one it was pasted into on to
// the right and down, and records it at once.
function paste(e, id, label) {
  const rows = e.clipboardData.getData('text').replace(/\r/g, '').replace(/\n$/, '').split('\n').map(r => r.split('\t'));
  if (rows.length === 1 && rows[0].length === 1) return;
  e.preventDefault();
  const b = page.campaign.batches.find(b => b.entries.some(t => t.id === id));
  const from = b.entries.findIndex(t => t.id === id), names = page.campaign.labels.map(l => l.name), first = names.indexOf(label);
  commit(rows.slice(0, b.entries.length - from).map((cells, r) => {
    const card = trials.get(b.entries[from + r].id);
    card.write(Object.fromEntries(cells.slice(0, names.length - first).map((v, k) => [names[first + k], v.trim()])));
    return card;
  }));
}

// make prints the sheets of a batch.
function make(round, all) {
  const of = batch();
  const size = el('input', { value: of.size, size: 8, required: true }), step = el('input', { value: of.step, size: 5, required: true });
  const d = dialog(`${isVolume() ? 'Measuring' : 'Weighing'} sheets of batch ${round}`, el('form', { class: 'tools', onsubmit: e => {
    e.preventDefault();
    open(`/sheets?round=${round}&batch=${encodeURIComponent(size.value)}&step=${encodeURIComponent(step.value)}${all ? '&all=1' : ''}`, true);
    d.close();
  } }, el('label', {}, 'Amount of each ', size), el('label', {}, 'Round to ', step), el('button', { class: 'main' }, 'Print'), button('Cancel', () => d.close())));
}

// showBatch shows a batch; the last one is open.
function showBatch(b) {
  const waits = b.entries.filter(t => t.status === 'waits').length;
  const cards = b.entries.map(t => {
    if (!trials.has(t.id)) trials.set(t.id, trial(t));
    trials.get(t.id).update(t);
    return trials.get(t.id).e;
  });
  const failed = b.entries.filter(t => t.status === 'failed').length;
  return [el('summary', {}, `Batch ${b.round} · ` + (waits ? `${waits} of ${b.entries.length} to make` : `${b.entries.length} done` + (failed ? `, ${failed} failed` : ''))),
    b.notes.map(n => el('p', { class: 'small provisional' }, n)),
    waits > 0 && el('p', { class: 'small soft' }, 'The predictions here are those that chose this batch. The shortlist corrects its predictions, so the two differ.'),
    el('div', { class: 'tools control' }, button(waits ? 'Print sheets' : 'Print again', () => make(b.round, !waits), { class: waits ? 'main' : null, 'data-key': 'make ' + b.round }),
      el('span', { class: 'small soft' }, `Type the results; kir saves them in ${page.campaign.results} as you type. If a trial failed, type “failed”.`)),
    el('ol', { class: 'cards' }, cards)];
}

const rounds = new Map(); // by round: its element

export function showCampaign() {
  const c = page.campaign;
  if (!c || !page.problem) return;
  const now = c.labels.map(l => l.name).join('\n');
  if (now !== labels) trials.clear();
  labels = now;
  // Where nothing is measured, as of a portfolio, there are no rounds.
  offer('campaign', c.labels.some(l => !l.set) || c.batches.length > 0 || c.fault);
  const s = c.stand;
  byId('campaign-advice').textContent = shown(s ? `${s.headline} ${s.text}` : c.batches.length ? c.batches[0].text : 'kir chooses a few recipes to make, you type their results, and kir chooses the next batch.');
  byId('campaign-fault').hidden = !c.fault;
  if (c.fault) byId('campaign-fault').textContent = shown([c.fault.message, c.fault.hint].filter(Boolean).join(': '));
  fill(byId('campaign-best'), s?.best ? [el('strong', {}, `Best so far: ${s.best_id}, ${s.measured}. `), [...amounts(s.best).map(([n, , text]) => `${n} ${text}`), ...(s.set ? [`at ${s.set}`] : [])].join(', ') + '. ', s.tried + '.'] : []);
  byId('campaign-doing').textContent = { choosing: 'Choosing the next batch …', standing: 'Learning from the results …' }[c.doing] ?? (c.behind ? 'New results: kir learns from them in a moment.' : '');
  byId('next').disabled = c.doing === 'choosing';
  if (document.activeElement !== byId('next-size') && !byId('next-size').dataset.typed) byId('next-size').value = kept('next size') ?? c.size;
  byId('next').textContent = c.batches.length ? 'Next batch' : 'Choose batch';
  byId('next').className = c.batches.length && s?.advice === 'stop' ? '' : 'main';
  const wanted = c.batches.map((b, k) => {
    if (!rounds.has(b.round)) {
      if (k === 0) for (const e of rounds.values()) e.open = false;
      rounds.set(b.round, el('details', { class: 'batch', open: k === 0, 'data-key': 'round ' + b.round }));
    }
    const e = rounds.get(b.round), focused = e.contains(document.activeElement) ? document.activeElement : null;
    e.replaceChildren(...showBatch(b).flat());
    if (focused && e.contains(focused)) focused.focus({ preventScroll: true });
    else if (focused) e.querySelector(`[data-key="${CSS.escape(focused.dataset.key ?? '')}"]`)?.focus({ preventScroll: true });
    return e;
  });
  if (wanted.length !== byId('batches').children.length || wanted.some((e, k) => e !== byId('batches').children[k])) byId('batches').replaceChildren(...wanted);
  byId('paste').hidden = !c.batches.length;
  if (!byId('paste-text').value && kept('paste')) {
    byId('paste-text').value = kept('paste');
    byId('paste').open = true;
  }
  if (byId('campaign-figures').of !== s) fill(byId('campaign-figures'), (s?.figures ?? []).map(drawing));
  byId('campaign-figures').of = s;
  byId('campaign-more').hidden = !s;
  if (s) fill(byId('campaign-tables'), tables(s));
}

const scroll = (name, table) => el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name }, table);
const head = (...names) => el('thead', {}, el('tr', {}, names.map(n => el('th', { scope: 'col' }, n))));

function tables(s) {
  const measured = b => b ? Object.entries(b.measured).map(([n, v]) => `${n} ${plain(v)}`).join(', ') : '';
  return [scroll('Batches', el('table', {}, el('caption', {}, 'The best recipe after each batch; batch 0 is what was known before'), head('Batch', 'Results', 'Failed', 'Best so far'),
    el('tbody', {}, s.rounds.map(r => el('tr', {}, el('th', { scope: 'row' }, String(r.round)), el('td', { class: 'n' }, String(r.results)), el('td', { class: 'n' }, String(r.failed)),
      el('td', {}, r.best ? `${r.better ? 'new: ' : ''}${r.best.id}, ${measured(r.best)}` : '')))))),
  s.told.length && scroll('Predictions', el('table', {}, el('caption', {}, 'Predicted (with the range of nine in ten results), and measured'), head('Recipe', 'Result', 'Predicted', 'Measured', 'In range'),
    el('tbody', {}, s.told.map(q => el('tr', {}, el('th', { scope: 'row' }, q.id), el('td', {}, q.label), el('td', { class: 'n' }, `${plain(q.predicted.value)} (${plain(q.predicted.low)} to ${plain(q.predicted.high)})`),
      el('td', { class: 'n' }, plain(q.measured)), el('td', {}, q.otherwise ? 'made differently' : q.within ? 'yes' : 'no')))))),
  s.lines.map(l => el('p', {}, l))];
}

export function begin() {
  byId('next-size').addEventListener('input', () => {
    byId('next-size').dataset.typed = '1';
    keep('next size', byId('next-size').value || null);
  });
  byId('next-form').addEventListener('submit', e => {
    e.preventDefault();
    ask({ do: 'next', size: Number(byId('next-size').value) });
  });
  byId('paste-form').addEventListener('submit', async e => {
    e.preventDefault();
    const answer = await ask({ do: 'paste', text: byId('paste-text').value });
    if (!answer) return;
    byId('paste-text').value = '';
    keep('paste', null);
    byId('recorded').textContent = shown([answer.text, ...(answer.notes ?? [])].join('. ') + '.');
  });
  byId('paste-text').addEventListener('input', () => keep('paste', byId('paste-text').value || null));
  // What is half typed when the page is closed is recorded, too.
  addEventListener('pagehide', () => { for (const t of trials.values()) if (!t.overtaken()) commit([t], true); });
}
