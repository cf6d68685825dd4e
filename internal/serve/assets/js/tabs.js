// The tabs: the recipes and the campaign. The one that is open stays open when the page is loaded again.
import { byId } from './dom.js';
import { keep, kept } from './drafts.js';

const names = ['recipes', 'campaign'];
const tab = name => byId('tab-' + name), panel = name => byId('panel-' + name);
const offered = () => names.filter(n => !tab(n).hidden);

let opened = null; // the tab that was opened here

// show shows a tab alone. Only its tab is a stop of the Tab key.
function show(name) {
  for (const n of names) {
    tab(n).setAttribute('aria-selected', String(n === name));
    tab(n).tabIndex = n === name ? 0 : -1;
    panel(n).hidden = n !== name;
  }
}

// open opens a tab that somebody chose.
function open(name) {
  opened = name;
  keep('tab', name);
  show(name);
}

// offer says whether there is something for a tab. Without it the tab is not there.
export function offer(name, is) {
  tab(name).hidden = !is;
  byId('tabs').hidden = offered().length < 2;
  const wanted = opened ?? kept('tab');
  show(offered().includes(wanted) ? wanted : names[0]);
}

export function begin() {
  for (const n of names) tab(n).addEventListener('click', () => open(n));
  byId('tabs').addEventListener('keydown', e => {
    const all = offered(), at = all.findIndex(n => tab(n) === document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const name = all[(to + all.length) % all.length];
    open(name);
    tab(name).focus();
  });
  // What a link leads to is shown first.
  document.addEventListener('click', e => {
    const link = e.target.closest?.('a[href^="#"]'), to = link && byId(link.hash.slice(1))?.closest('[role="tabpanel"]');
    if (to?.hidden) open(to.id.replace('panel-', ''));
  });
}
