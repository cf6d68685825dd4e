// What is typed and not kept yet stays in the browser's storage, so that neither a page that is
// closed nor a server that has ended loses it.
import { page } from './state.js';

// store keeps what is typed under a name; null forgets it.
export function store(name, value) {
  try {
    if (value === null) localStorage.removeItem('kir draft ' + name);
    else localStorage.setItem('kir draft ' + name, JSON.stringify(value));
  } catch {
    // A browser may have no storage, or no room: the field alone has it then, as without drafts.
  }
}

// stored returns what was kept under a name, null if there is nothing.
export function stored(name) {
  try {
    return JSON.parse(localStorage.getItem('kir draft ' + name));
  } catch {
    return null;
  }
}

// keep and kept are store and stored for the problem that is shown.
export const keep = (key, value) => { if (page.state) store(`${page.state.place} ${key}`, value); };
export const kept = key => page.state && stored(`${page.state.place} ${key}`);
