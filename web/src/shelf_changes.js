// What can leave the shelf or come to it: categories and items, found by text.
import { allCategories, findItems, nameOf } from './catalogue.js';
import { leaf, shown } from './words.js';

const categoryOption = (name) => ({ key: `category=${name}`, label: shown(name), note: 'category' });
const itemOption = (item) => ({ key: `item=${item.item}`, label: nameOf(item), note: leaf(item.category) || 'item' });

/** Categories whose names hold the text. */
export async function findCategories(text) {
  const fits = (name) => name.toLowerCase().includes(text.toLowerCase());
  return (await allCategories()).filter(fits).map(categoryOption);
}

/** Categories first, then items, whose names hold the text. */
export async function findThings(text, signal) {
  const found = await findCategories(text);
  const items = (await findItems(text, 12, signal)).map(itemOption);
  return [...found.slice(0, text ? 12 : 40), ...items];
}

export const findOnlyItems = async (text, signal) => (await findItems(text, 20, signal)).map(itemOption);
