// What can leave the shelf or come to it: categories and items, found by text.
import { findItems } from './catalogue.js';
import { leaf, nameOf } from './words.js';

let categories = null;

/** Categories of the items that the server lists, with those above them, in order of the alphabet. */
async function allCategories(signal) {
  if (categories) return categories;
  const names = new Set();
  for (const { category } of await findItems('', 1000, signal)) {
    const parts = category?.split(' > ') ?? [];
    parts.forEach((_, i) => names.add(parts.slice(0, i + 1).join(' > ')));
  }
  categories = [...names].sort();
  return categories;
}

const categoryOption = (name) => ({ key: `category=${name}`, label: name, note: 'category' });
const itemOption = (item) => ({ key: `item=${item.item}`, label: nameOf(item), note: leaf(item.category) || 'item' });

/** Categories first, then items, whose names hold the text. */
export async function findThings(text, signal) {
  const fits = (name) => name.toLowerCase().includes(text.toLowerCase());
  const found = (await allCategories(signal)).filter(fits).map(categoryOption);
  const items = (await findItems(text, 12, signal)).map(itemOption);
  return [...found.slice(0, text ? 12 : 40), ...items];
}

export const findOnlyItems = async (text, signal) => (await findItems(text, 20, signal)).map(itemOption);
