// The map: draws and known recipes, so that what is alike lies together.
import { el, byId, fill, shown } from './dom.js';
import { page, get, say, newest } from './state.js';
import { colour, key } from './conditions.js';

const percent = v => Math.round(100 * v) + ' %';

const lastPlane = newest();
let plane = null, at = -1;

async function draw() {
  let drawn;
  try {
    drawn = await lastPlane(get('/map'));
  } catch (e) {
    return say(e.message);
  }
  if (!drawn) return;
  plane = drawn;
  if (!plane.points.length) return say('There are too few draws or ingredients for a map.');
  byId('map-box').hidden = false;
  byId('map-draw').textContent = 'Refresh map';
  at = -1;
  showColours();
  const more = names => names.length ? 'more ' + names.join(', ') : 'no ingredient stands out';
  byId('map-says').textContent = shown(`The map shows ${percent(plane.explained)} of the differences between recipes${plane.explained < 0.5 ? ', so distances are rough' : ''}. Left: ${more(plane.left)}. Right: ${more(plane.right)}. Bottom: ${more(plane.lower)}. Top: ${more(plane.upper)}.`);
  paint();
}

// showColours offers to colour the points by a condition.
function showColours() {
  const all = plane.conditions ?? [], was = byId('map-colour').value;
  byId('map-colour-label').hidden = !all.length;
  byId('map-colour').replaceChildren(el('option', { value: '' }, 'score'), ...all.map((c, k) => el('option', { value: String(k) }, c.name)));
  byId('map-colour').value = Number(was) < all.length ? was : '';
}

// coloured is the condition that colours the points, or undefined.
const coloured = () => byId('map-colour').value === '' ? undefined : plane.conditions?.[Number(byId('map-colour').value)];

// showKey says what the colours stand for.
const showKey = c => fill(byId('map-key'), c ? key(c.number, c.texts) : []);

// place returns where points are on the canvas.
function places() {
  const c = byId('map');
  const xs = plane.points.map(p => p.x), ys = plane.points.map(p => p.y);
  const scale = (v, lo, hi, from, to) => from + (v - lo) / (hi - lo || 1) * (to - from);
  const lx = Math.min(...xs), hx = Math.max(...xs), ly = Math.min(...ys), hy = Math.max(...ys);
  return plane.points.map(p => [scale(p.x, lx, hx, 16, c.width - 16), scale(p.y, ly, hy, c.height - 16, 16)]);
}

export function paint() {
  if (!plane || byId('map-box').hidden) return;
  const c = byId('map'), g = c.getContext('2d'), style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--ink'), accent = style.getPropertyValue('--accent'), warn = style.getPropertyValue('--warn');
  g.clearRect(0, 0, c.width, c.height);
  const by = coloured(), kind = byId('map-colour').value;
  showKey(by);
  places().forEach(([x, y], k) => {
    const p = plane.points[k];
    g.beginPath();
    g.arc(x, y, p.name ? 5 : 3.2, 0, 7);
    g.globalAlpha = p.name || by ? 1 : 0.15 + 0.75 * (p.score ?? 0);
    g.strokeStyle = by ? colour(by.number, p.set[kind], by.texts.length) : ink;
    g.fillStyle = by ? colour(by.number, p.set[kind], by.texts.length) : accent;
    if (p.name) g.stroke(); else g.fill();
  });
  g.globalAlpha = 1;
  if (at < 0) return;
  const [x, y] = places()[at];
  g.strokeStyle = warn;
  g.lineWidth = 3;
  g.beginPath();
  g.arc(x, y, 9, 0, 7);
  g.stroke();
  g.lineWidth = 1;
}

function look(k) {
  at = k;
  const p = plane.points[k];
  byId('map-says').textContent = shown((p.name ? p.name + ': ' : '') + p.text + (p.score === null ? ' (left out by the constraints or objectives)' : `; ${percent(p.score)} of the highest score`));
  paint();
}

export function begin() {
  byId('map-draw').addEventListener('click', draw);
  byId('map-colour').addEventListener('change', paint);
  const c = byId('map');
  c.addEventListener('pointermove', e => {
    const box = c.getBoundingClientRect();
    const x = (e.clientX - box.left) / box.width * c.width, y = (e.clientY - box.top) / box.height * c.height;
    let best = -1, nearest = 400;
    places().forEach(([px, py], k) => {
      const d = (px - x) ** 2 + (py - y) ** 2;
      if (d < nearest) [nearest, best] = [d, k];
    });
    if (best >= 0 && best !== at) look(best);
  });
  c.addEventListener('keydown', e => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (!step || !plane) return;
    e.preventDefault();
    look((at + step + plane.points.length) % plane.points.length);
  });
  for (const media of ['(prefers-color-scheme: dark)', 'print']) matchMedia(media).addEventListener('change', paint);
}

export const forget = () => { if (page.draws && plane) byId('map-draw').textContent = 'Refresh map: there are new draws'; };
