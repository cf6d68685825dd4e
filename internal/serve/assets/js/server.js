// What answers the page: the server that it came from or, on a site without one, what
// stands in its place (kir in this window). Nothing else of the page knows which.
const here = globalThis.kir ?? {
  fetch: (path, options) => fetch(path, options),
  events: path => new EventSource(path),
  open: (path, print) => {
    const tab = window.open(path, '_blank');
    if (tab && print) tab.addEventListener('load', () => tab.print());
  },
  save: (path, name) => Object.assign(document.createElement('a'), { href: path, download: name }).click(),
  again: () => location.reload(),
};

// fetch and events are those of browsers. open shows a document in a tab of its own, to be printed if wanted, save
// keeps one as a file, and again shows the page anew.
export const { fetch: ask, events, open, save, again } = here;
