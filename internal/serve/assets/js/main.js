// The page listens to the server and shows what is new.
import { el, byId, fill, button, shown, narrow } from './dom.js';
import { page, ask, say, listen } from './state.js';
import * as amounts from './amounts.js';
import * as question from './question.js';
import * as conditions from './conditions.js';
import * as recipes from './recipes.js';
import * as campaign from './campaign.js';
import * as ingredients from './ingredients.js';
import * as taste from './taste.js';
import * as map from './map.js';
import * as history from './history.js';
import * as tabs from './tabs.js';

const phases = {
  reading: 'Updating: reading the problem', asking: 'Waiting for your permission', drawing: 'Updating: first results',
  settled: 'Up to date', faulty: 'Conflict: see below', gone: 'kir has ended, or cannot be reached. Results that you type are kept in this browser until it is back',
  refused: 'kir was started again. Open the address that it printed: what you typed here is kept in this browser',
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
    byId('fault-text').textContent = shown(s.fault.message + (s.fault.hint && !s.fault.ways.length ? '. Fix: ' + s.fault.hint : '') + '.');
    byId('fault-place').textContent = shown(s.fault.place);
    fill(byId('fault-ways'), s.fault.ways.map((w, k) => el('li', {}, w.writable ? button(w.text, () => ask({ do: 'way', rule: k }), { class: 'main', 'data-key': 'way ' + k }) : w.text + ' (in the text below)')),
      s.steps.find(t => t.id === s.step)?.parent ? el('li', {}, button('Go back', () => byId('back').click())) : null);
  }
  byId('asks').hidden = !s.asks.length;
  fill(byId('asks-list'), s.asks.map(a => el('li', {}, el('pre', { tabindex: 0, role: 'region', 'aria-label': 'The command' }, a.lines.join('\n')), button('Allow this command', () => ask({ do: 'allow', text: a.key }), { 'data-key': 'allow ' + a.key }))));
  const notes = [...s.problem?.warnings ?? [], ...s.notes];
  byId('notes').hidden = !notes.length;
  byId('notes').firstElementChild.textContent = notes.length === 1 ? 'A note from kir' : `${notes.length} notes from kir`;
  fill(byId('notes').lastElementChild, notes.map(n => el('li', {}, n)));
  history.showSteps();
  history.showFile();
  if (!s.problem) return;
  page.problem = s.problem;
  byId('title').textContent = shown(s.problem.name);
  document.title = shown(s.problem.name) + ' · kir';
  byId('words').textContent = shown(s.problem.words + '.');
  recipes.showOrders();
  question.showObjectives();
  conditions.showConditions();
  question.showConstraints();
  ingredients.showNames();
  recipes.showList();
  ingredients.showDraws();
  campaign.showCampaign();
}

const shows = {
  state: showState,
  list: () => recipes.showList(),
  draws: () => {
    const d = page.draws;
    byId('progress').hidden = !(d.run > 0 && d.run < 1);
    byId('progress').value = d.run;
    if (page.problem) conditions.showConditions();
    ingredients.showDraws();
    ingredients.again();
    map.forget();
  },
  campaign: () => campaign.showCampaign(),
  pages: () => {
    byId('pages').hidden = page.pages < 2;
    byId('pages').textContent = page.pages > 1 ? `Open in ${page.pages} tabs: a change in one appears in all.` : '';
  },
};

// The answer and the recipes come first. On a telephone, what asks them otherwise stands below them, in
// the document too, so that the keyboard and a screen reader go the same way; and the links to the
// sections fold.
function arrange() {
  byId(narrow.matches ? 'list-section' : 'answer-section').append(byId('asked'));
  byId('sections').open = !narrow.matches;
}
arrange();
byId('sections').addEventListener('click', e => { if (narrow.matches && e.target.closest('a')) byId('sections').open = false; });
narrow.addEventListener('change', arrange);

amounts.begin(() => { if (page.problem) { recipes.showList(); campaign.showCampaign(); } });
for (const part of [question, recipes, campaign, ingredients, taste, map, history, tabs]) part.begin();
byId('said').lastElementChild.addEventListener('click', () => say(''));
listen(Object.keys(shows), kind => shows[kind](), refused => phase(refused ? 'refused' : 'gone'), () => {
  showState();
  campaign.resend();
});
