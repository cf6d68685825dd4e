// A composition as a bar. Each part is a slider: dragged or moved by keys it takes another
// amount, clicked it shows what amounts there are.
import { el, shown } from './dom.js';
import { page } from './state.js';
import { amountsOf, byAttribute, colour, parts, shares } from './amounts.js';
import { steps } from './written.js';

const before = new Map(); // by what a bar stands for: the amounts it had, to move from

// bar draws a recipe. key says what it stands for; keep(name, units) is called when a part
// was given another amount, and look(name) when it was chosen. Without these it is a
// picture.
export function bar(recipe, { key, keep, look } = {}) {
  const { members } = page.problem;
  let all = parts(recipe);
  if (byAttribute()) {
    const group = name => members[name] ?? 99;
    all = [...all].sort((a, b) => group(a[0]) - group(b[0]) || b[1] - a[1]);
  }
  const percents = shares(parts(recipe).map(([, a]) => a));
  const words = parts(recipe).map(([n], k) => `${shown(n)} ${percents[k]} %`).join(', ');
  const e = el('div', keep ? { class: 'bar', role: 'group', 'aria-label': words, 'aria-describedby': 'bar-help' } : { class: 'bar', role: 'img', 'aria-label': words },
    all.map(([name]) => el('span', { class: colour(name) }, el('b', {}, name))));
  const spans = [...e.children];
  const set = units => {
    const percents = shares(units), amounts = keep && amountsOf(units);
    spans.forEach((s, k) => {
      s.style.flexGrow = units[k];
      s.title = `${shown(all[k][0])} ${percents[k]} %`;
      if (!keep) return;
      s.setAttribute('aria-valuenow', units[k]);
      s.setAttribute('aria-valuetext', `${percents[k]} %, ${amounts[k]}`);
    });
  };
  const was = before.get(key);
  set(all.map(([, units]) => units));
  all.forEach(([name, units], k) => {
    if (was && was[name] !== units) {
      spans[k].style.flexGrow = was[name] ?? 0;
      requestAnimationFrame(() => { e.classList.add('moves'); spans[k].style.flexGrow = units; });
    }
    if (keep) slides(e, spans, all, k, set, key, keep, look);
  });
  if (key) before.set(key, recipe);
  return e;
}

// slides makes a slider of a part. While it moves the others keep their proportions.
function slides(e, spans, all, k, set, key, keep, look) {
  const { total } = page.problem, [name, units] = all[k], s = spans[k];
  for (const [a, v] of Object.entries({ role: 'slider', tabindex: k ? -1 : 0, 'aria-label': shown(name), 'aria-valuemin': 1, 'aria-valuemax': total, 'data-key': `bar ${key} ${name}` })) s.setAttribute(a, v);
  let now = units;
  const move = to => {
    now = Math.max(1, Math.min(total - all.length + 1, Math.round(to)));
    const others = steps(all.map(([, a], i) => i === k ? 0 : a), Math.max(1, total - units), total - now);
    set(others.map((a, i) => i === k ? now : a));
  };
  const done = () => now === units ? look(name) : keep(name, now);
  let from = null;
  s.addEventListener('pointerdown', ev => { from = ev.clientX; s.setPointerCapture(ev.pointerId); });
  s.addEventListener('pointermove', ev => {
    if (from === null || Math.abs(ev.clientX - from) < 4 && now === units) return;
    move(units + (ev.clientX - from) / e.getBoundingClientRect().width * total);
  });
  s.addEventListener('pointerup', () => { if (from !== null) { from = null; done(); } });
  s.addEventListener('pointercancel', () => { from = null; move(units); });
  s.addEventListener('keydown', ev => {
    const step = Math.max(1, Math.round(total / (ev.shiftKey ? 20 : 100)));
    const at = { ArrowLeft: k - 1, ArrowRight: k + 1 }[ev.key];
    if (spans[at]) {
      s.tabIndex = -1;
      spans[at].tabIndex = 0;
      spans[at].focus();
    } else if (ev.key === 'ArrowUp') move(now + step);
    else if (ev.key === 'ArrowDown') move(now - step);
    else if (ev.key === 'Escape') move(units);
    else if (ev.key === 'Enter' || ev.key === ' ') done();
    else if (at === undefined) return;
    ev.preventDefault();
  });
}
