// The open basket, and the till.
import { api } from './api.js';
import { remove } from './basket_actions.js';
import { itemOf, learn, nameOf } from './catalogue.js';
import { fill, h, update } from './dom.js';
import { empty } from './notice.js';
import { released } from './press.js';
import { roving } from './roving.js';
import { leaf, plural, prose, shown } from './words.js';

function row(store, key) {
  const item = itemOf(key);
  return h('li', { 'data-item': key },
    h('span', { class: 'grow' }, nameOf(item), ' ', h('small', null, leaf(item.category))),
    h('button', {
      type: 'button', class: 'icon', 'aria-label': `Take ${nameOf(item)} out`, onclick: () => remove(store, key),
    }, '×'));
}

/** Sends the basket as one purchase; the customer's past, and the next answers, change at once. */
async function buy(store, said) {
  const { user, basket, bought } = store.get();
  try {
    await api.buy({ user, items: basket });
    fill(said, `Bought. ${plural(basket.length, 'item')} added to the history of ${shown(user)}; the next answers use it.`);
    store.set({ basket: [], bought: bought + 1 });
  } catch (error) {
    fill(said, prose(error.message));
  }
}

export function basketPanel(store) {
  const title = h('h2', null, 'Basket');
  const list = roving(h('ol', { class: 'basket' }));
  const said = h('p', { class: 'quiet', role: 'status' });
  const pay = h('button', { type: 'button', class: 'main', onclick: () => buy(store, said) }, 'Buy it');
  const clear = h('button', { type: 'button', onclick: () => store.set({ basket: [] }) }, 'Empty it');
  const till = h('div', { class: 'row till' }, pay, clear);
  const hint = h('p', { class: 'quiet' }, 'Guests have no history: choose a customer to record the purchase.');

  function show({ basket, user }) {
    fill(title, basket.length ? `Basket · ${basket.length}` : 'Basket');
    update(list, basket.length > 0 ? basket.map((key) => row(store, key))
      : h('li', { class: 'plain' }, empty('Nothing yet. Click items on the shelf or a suggestion.')));
    till.hidden = basket.length === 0;
    pay.disabled = user === null;
    hint.hidden = user !== null || basket.length === 0;
    if (basket.length > 0) fill(said);
  }
  store.watch(['basket', 'user'], (state) => {
    show(state);
    learn(state.basket).then(async (news) => {
      await released();
      if (news) show(store.get());
    }, () => {});
  });
  return h('section', { class: 'card', 'aria-label': 'Basket' }, title, list, till, hint, said);
}
