// Amounts as a person types them, such as "1.5 cl", "1,5" or "20 %".

// typedUnits returns how many units of a total an amount is, or what is wrong with it: {units} or
// {wrong}. sizes lists the units that it may have, {name, whole}, with how much of each the whole has; a
// number alone has the unit of that name. What is more than nothing is at least one unit.
export function typedUnits(text, total, sizes, unit) {
  const match = /^(\d+(?:[.,]\d+)?|[.,]\d+)\s*(\D*)$/.exec(text.trim());
  const name = match?.[2].trim() || unit;
  const size = sizes.find(s => s.name === name) ?? sizes.find(s => s.name.toLowerCase() === name.toLowerCase());
  if (!match || !size) {
    const names = sizes.map(s => s.name), last = names.pop();
    return { wrong: `“${text.trim()}” is no amount here. Write a number and ${names.length ? names.join(', ') + ' or ' : ''}${last}, such as 1.5 ${unit}.` };
  }
  if (/,\d{3}$/.test(match[1])) return { wrong: `“${text.trim()}” has two readings. Write it without a comma.` };
  const amount = Number(match[1].replace(',', '.'));
  if (amount > size.whole * (1 + 1e-9)) return { wrong: `${text.trim()} is more than the whole, ${Number(size.whole.toPrecision(6))} ${size.name}.` };
  const units = Math.round(amount * total / size.whole);
  return { units: amount > 0 ? Math.max(1, units) : 0 };
}
