// What can leave the shelf or come to it: categories and items, found by text.
import { allCategories, findItems } from './catalogue.js';
import { leaf, nameOf } from './words.js';

const categoryOption = (name) => ({ key: `category=${name}`, label: name, note: 'category' });
const itemOption = (item) => ({ key: `item=${item.item}`, label: nameOf(item), note: leaf(item.category) || 'item' });

/** Categories first, then items, whose names hold the text. */
export async function findThings(text, signal) {
  const fits = (name) => name.toLowerCase().includes(text.toLowerCase());
  const found = (await allCategories()).filter(fits).map(categoryOption);
  const items = (await findItems(text, 12, signal)).map(itemOption);
  return [...found.slice(0, text ? 12 : 40), ...items];
}

export const findOnlyItems = async (text, signal) => (await findItems(text, 20, signal)).map(itemOption);
