// What is typed and not kept yet stays in the browser's storage, so that neither a page that is
// closed nor a server that has ended loses it.
import { page } from './state.js';

const name = key => `kir draft ${page.state.place} ${key}`;

// keep keeps what is typed under a key of this problem; null forgets it.
export function keep(key, value) {
  if (!page.state) return;
  try {
    if (value === null) localStorage.removeItem(name(key));
    else localStorage.setItem(name(key), JSON.stringify(value));
  } catch {
    // A browser may have no storage, or no room: the field alone has it then, as without drafts.
  }
}

// kept returns what was kept under a key, null if there is nothing.
export function kept(key) {
  try {
    return page.state && JSON.parse(localStorage.getItem(name(key)));
  } catch {
    return null;
  }
}
