// The first view: who, what is in the basket, what comes next.
import { basketPanel } from './basket_list.js';
import { customerPanel } from './customer.js';
import { h } from './dom.js';
import { recommendationsPanel } from './recommendations.js';
import { shelfPanel } from './shelf.js';

export function basketView(store) {
  return h('div', { class: 'shop' },
    h('div', { class: 'column' }, customerPanel(store), basketPanel(store)),
    shelfPanel(store),
    recommendationsPanel(store));
}
