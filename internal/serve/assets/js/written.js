// Amounts and scores as text, as internal/number writes them in Go: a recipe divides a total of units, and
// what is written adds up to the whole.

const sum = list => list.reduce((s, v) => s + v, 0n);
const abs = v => v < 0n ? -v : v;

// apportion divides a whole in proportion to shares of a total, by the largest remainder.
function apportion(shares, total, whole) {
  const out = shares.map(u => u * whole / total), order = shares.map((_, k) => k);
  const rest = k => shares[k] * whole % total;
  order.sort((a, b) => rest(a) < rest(b) ? 1 : rest(a) > rest(b) ? -1 : a - b);
  let left = whole - sum(out);
  for (const k of order) if (left > 0n) { out[k]++; left--; }
  return out;
}

// complete returns amounts, and last what a recipe has of something else.
function complete(units, total) {
  const shares = units.map(u => BigInt(Math.round(u))), rest = total - sum(shares);
  return rest > 0n ? [...shares, rest] : shares;
}

// percentages writes amounts in percent, without its sign, with so many digits behind the
// point at least.
export function percentages(units, of, least) {
  const total = BigInt(of), shares = complete(units, total);
  const reads = (list, whole) => list.every((w, k) => 2n * abs(w * total - shares[k] * whole) < whole);
  const write = (list, digits) => list.slice(0, units.length).map(w => {
    const text = String(w).padStart(digits + 1, '0');
    return digits ? text.slice(0, -digits) + '.' + text.slice(-digits) : text;
  });
  for (let d = 0; d < 12 && of > 10 ** (d + 2); d++) least = Math.max(least, d + 1);
  let together = -1;
  for (let digits = least; ; digits++) {
    const whole = 100n * 10n ** BigInt(digits);
    const rounded = shares.map(u => (2n * u * whole + total) / (2n * total));
    if (sum(rounded) === whole && reads(rounded, whole)) return write(rounded, digits);
    if (together < 0 && reads(apportion(shares, total, whole), whole)) together = digits;
    if (together >= 0 && digits >= together + 2) return write(apportion(shares, total, whole), digits);
  }
}

// steps returns how many steps of a scale, which a whole has so many of, each amount has.
export function steps(units, of, count) {
  const total = BigInt(of);
  return apportion(complete(units, total), total, BigInt(count)).slice(0, units.length).map(Number);
}

// inUnit writes an amount in a unit that the whole has so much of, with the fewest digits that are read
// as this amount again.
export function inUnit(units, of, whole) {
  for (let digits = 0; ; digits++) {
    const text = (units * whole / of).toFixed(digits);
    if (digits === 12 || Math.round(Number(text) * of / whole) === units) return text;
  }
}

// asRule writes an amount as a problem file does: in percent where four digits say it, or in units.
export function asRule(units, of) {
  const percent = Number((100 * units / of).toFixed(4));
  return Math.abs(percent * of - 100 * units) < 1e-6 ? `${percent}%` : String(units);
}

// whole writes a share in whole percent, without its sign. Less than the whole is never 100.
export const whole = v => v > 0 && v < 0.01 ? '<1' : v > 0.99 && v < 1 ? '>99' : String(Math.round(100 * v));

// score writes a score to three figures and three decimals at least; where its digits say nothing,
// the power of ten that it is.
export function score(v) {
  if (v === null || v === undefined) return '?';
  const size = Math.abs(v);
  if (v > 0 && (size >= 1e5 || size < 1e-6)) return `10^${Math.log10(v).toFixed(2)}`;
  return v.toFixed(v !== 0 && size < 0.0995 ? Math.min(100, 2 - Math.floor(Math.log10(size))) : 3);
}
