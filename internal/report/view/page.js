// Sorts tables by a column, filters long ones by name, and highlights a recipe in
// all figures and cards. The page is complete without it.
'use strict';
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  const cell = (row, k) => {
    const data = row.cells[k].querySelector('data');
    if (!data) return row.cells[k].textContent.trim();
    return data.value === '' ? -Infinity : Number(data.value);
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, k) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    button.title = 'sort by this column';
    head.append(button);
    button.addEventListener('click', () => {
      const numbers = head.classList.contains('n');
      const now = head.getAttribute('aria-sort');
      const down = now ? now === 'ascending' : numbers;
      for (const h of heads) h.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = [...body.rows].map(row => [cell(row, k), row]);
      rows.sort((a, b) => (typeof a[0] === 'number' && typeof b[0] === 'number' ? a[0] - b[0] : String(a[0]).localeCompare(String(b[0]))) * (down ? -1 : 1));
      body.append(...rows.map(r => r[1]));
    });
  });
  if (body.rows.length > 20) {
    const label = document.createElement('label');
    label.className = 'filter';
    const input = document.createElement('input');
    input.type = 'search';
    label.append('Find in this table: ', input);
    input.addEventListener('input', () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of body.rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    });
    table.parentElement.before(label);
  }
}
// What shows one recipe has the same data-entry everywhere. While the pointer or the
// focus is on one of these marks or cards, all of them have the class lit.
const marks = document.querySelectorAll('[data-entry]');
const light = event => {
  const entry = event.target.closest('[data-entry]')?.dataset.entry;
  for (const mark of marks) mark.classList.toggle('lit', mark.dataset.entry === entry);
};
for (const name of ['pointerover', 'focusin']) document.addEventListener(name, light);
document.documentElement.addEventListener('pointerleave', () => {
  for (const mark of marks) mark.classList.remove('lit');
});
