// The page listens to the server and shows what is new.
import { el, byId, fill, ask, button, page, shown } from './base.js';
import * as list from './list.js';
import * as steer from './steer.js';
import * as taste from './taste.js';
import * as history from './history.js';

const phases = {
  reading: 'Reading the problem …', asking: 'Waiting for your word', drawing: 'Drawing; what is shown is a first look',
  settled: 'Settled: this is what the command line gives', faulty: 'This cannot be drawn', gone: 'kir has ended, or cannot be reached',
};

function phase(name) {
  const e = byId('phase');
  if (e.className === name) return;
  e.className = name;
  e.textContent = phases[name];
}

function showState() {
  const s = page.state;
  phase(s.phase);
  byId('fault').hidden = !s.fault;
  if (s.fault) {
    byId('fault-text').textContent = shown(s.fault.message + (s.fault.hint && !s.fault.ways.length ? '. Way out: ' + s.fault.hint : '') + '.');
    byId('fault-place').textContent = shown(s.fault.place);
    fill(byId('fault-ways'), s.fault.ways.map((w, k) => el('li', {}, w.writable ? button(w.text, () => ask({ do: 'way', rule: k }), { class: 'main', 'data-key': 'way ' + k }) : w.text + ' (in the text below)')),
      s.steps.find(t => t.id === s.step)?.parent ? el('li', {}, button('Go back', () => byId('back').click())) : null);
  }
  byId('asks').hidden = !s.asks.length;
  fill(byId('asks-list'), s.asks.map(a => el('li', {}, el('pre', { tabindex: 0 }, a.lines.join('\n')), button('Allow this command', () => ask({ do: 'allow', text: a.key }), { 'data-key': 'allow ' + a.key }))));
  history.showSteps();
  history.showFile();
  page.problem = s.problem;
  if (!s.problem) return;
  byId('title').textContent = shown(s.problem.name);
  document.title = shown(s.problem.name) + ' · kir';
  byId('words').textContent = shown(s.problem.words + (s.problem.warnings.length ? '. ' + s.problem.warnings.join(' ') : ''));
  list.showOrders();
  list.showList();
  steer.showWishes();
  steer.showRules();
  steer.showDraws();
}

const shows = {
  state: showState,
  list: () => list.showList(),
  draws: () => {
    const d = page.draws;
    byId('progress').hidden = !(d.run > 0 && d.run < 1);
    byId('progress').value = d.run;
    steer.showDraws();
    steer.again();
    taste.forget();
  },
  pages: () => {
    byId('pages').hidden = page.pages < 2;
    byId('pages').textContent = `This problem is open in ${page.pages} tabs. They show the same, and what is changed in one is changed in all.`;
  },
};

// What comes is shown once a frame, the last of each kind.
const fresh = new Set();
function show(kind) {
  if (!fresh.size) requestAnimationFrame(() => {
    for (const k of ['state', 'list', 'draws', 'pages']) if (fresh.delete(k)) shows[k]();
  });
  fresh.add(kind);
}

for (const part of [list, steer, taste, history]) part.begin();
const events = new EventSource('/events');
for (const kind of Object.keys(shows)) {
  events.addEventListener(kind, e => {
    page[kind] = JSON.parse(e.data);
    show(kind);
  });
}
events.addEventListener('end', () => { events.close(); phase('gone'); });
events.onerror = () => phase('gone');
