// Names of items and categories: remembered from answers of the server, requested when unknown.
import { api } from './api.js';
import { shown } from './words.js';

const known = new Map();
const bearers = new Map(); // name -> keys of the items that bear it

/** Remembers items that came with an answer. Those without a category keep the one known before. */
export function remember(items) {
  for (const item of items) {
    known.set(item.item, { ...known.get(item.item), ...item });
    if (item.name) bearers.set(item.name, (bearers.get(item.name) ?? new Set()).add(item.item));
  }
  return items;
}

/** What an item is called; where several bear one name, the key tells them apart. */
export function nameOf({ item, name }) {
  if (!name) return shown(item);
  return bearers.get(name)?.size > 1 ? `${shown(name)} (${shown(item)})` : shown(name);
}

export const itemOf = (key) => known.get(key) ?? { item: key, name: null, category: null };

/** Learns the names of keys that came from the address bar. Resolves when all are known or unknown. */
export async function learn(keys) {
  const missing = keys.filter((key) => !known.has(key));
  await Promise.all(missing.map(async (key) => {
    const { items } = await api.items(key, 20);
    remember(items);
  }));
  return missing.length > 0;
}

let categories = null; // asked for once; what failed is asked for again

/** Paths of all categories, of items and above them; none in shops that have no such thing. */
export async function allCategories() {
  categories ??= api.categories().catch((error) => {
    categories = null;
    throw error;
  });
  return (await categories).categories;
}

export async function findItems(text, limit, signal) {
  const { items } = await api.items(text, limit, signal);
  return remember(items);
}

/** Another model has other names. */
export function forget() {
  known.clear();
  bearers.clear();
  categories = null;
}
