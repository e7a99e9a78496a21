// Groups of customers, as the server names them and as people read them.

import { shown } from './words.js';

export const everybody = 'everybody';

const kinds = [
  [/^everybody$/, () => everybody],
  [/^truth$/, () => 'the true groups'],
  [/^cluster:(\d+)$/, (_, n) => `${n} groups found by the model`],
  [/^buyers:(.*)$/s, (_, category) => `buyers of ${shown(category)}`],
  [/^user:(.*)$/s, (_, key) => shown(key)],
];

export function groupLabel(name) {
  for (const [form, words] of kinds) {
    const match = form.exec(name);
    if (match) return words(...match);
  }
  return shown(name);
}

/**
 * Ways to tell customers apart: [{ label, groups }]. Values of one feature belong together; "truth"
 * and "cluster:3" stand for several groups by themselves.
 */
export function waysApart(names) {
  const ways = new Map();
  for (const name of names) {
    if (name === everybody) continue;
    const feature = /^([^:=]+)=/.exec(name)?.[1];
    const label = feature ? `by ${feature}` : groupLabel(name);
    ways.set(label, [...(ways.get(label) ?? []), name]);
  }
  return [...ways].map(([label, groups]) => ({ label, groups }));
}
