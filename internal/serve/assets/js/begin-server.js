// What makes a problem of a table speaks to what reads the tables here, and nowhere else.
import { ask, prove, again } from './server.js';

async function asked(path, options) {
  let r;
  try {
    if (options) await prove();
    r = await ask(path, options);
  } catch (e) {
    throw new Error('kir does not answer. Was it ended? What was answered so far is kept while it runs. ' + e.message);
  }
  if (r.status === 403) throw new Error('kir was started again. Open the address that it printed.');
  const answer = await r.json();
  if (!r.ok) throw new Error(answer.message + (answer.hint ? ': ' + answer.hint : '') + '.');
  return answer;
}

const json = (path, body) => asked(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

export const view = () => asked('/begin/view');
export const answer = what => json('/begin/answer', what);
export const example = name => json('/begin/example', { name });
export const table = (of, name, data) =>
  asked('/begin/table?' + new URLSearchParams({ of, name }), { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: data });
export const go = () => json('/begin/go', {});
export { again };
