// Everything that can be bought: search it, click it, and it is in the basket.
import { add, toggle } from './basket_actions.js';
import { findItems, nameOf } from './catalogue.js';
import { h, update } from './dom.js';
import { latest, settled } from './latest.js';
import { empty, failed } from './notice.js';
import { roving } from './roving.js';
import { leaf, shown } from './words.js';

const most = 60;

function itemButton(store, item) {
  return h('li', { 'data-key': item.item },
    h('button', {
      type: 'button', class: 'item', 'data-item': item.item, onclick: () => toggle(store, item.item),
      'aria-pressed': String(store.get().basket.includes(item.item)),
    }, h('span', null, nameOf(item)), h('small', null, leaf(item.category))));
}

function markChosen(list, basket) {
  for (const button of list.querySelectorAll('[data-item]'))
    button.setAttribute('aria-pressed', String(basket.includes(button.dataset.item)));
}

export function shelfPanel(store) {
  const input = h('input', {
    type: 'search', id: 'shelf-search', placeholder: 'Search items', autocomplete: 'off', spellcheck: 'false',
    title: 'Enter adds the first item found',
  });
  const list = roving(h('ul', { class: 'shelf' }));
  const more = h('p', { class: 'quiet', hidden: true }, `The first ${most}; search for more.`);
  const find = (text, signal) => findItems(text, most, signal);

  const load = latest(find, ({ answer, error }, text) => {
    more.hidden = true;
    if (error) return update(list, h('li', null, failed(error, () => load(text))));
    if (answer.length === 0)
      return update(list, h('li', null, empty(`Nothing on the shelf is called “${shown(text)}”.`)));
    more.hidden = answer.length < most;
    return update(list, answer.map((item) => itemButton(store, item)));
  });
  const addFirst = latest(find, ({ answer, error }, text) => {
    if (error) load(text);
    else if (answer.length > 0) {
      add(store, answer[0].item);
      input.select(); // the next word replaces this one
    }
  });
  input.addEventListener('input', settled(() => load(input.value.trim()), 120));
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.isComposing || input.value.trim() === '') return;
    event.preventDefault();
    addFirst(input.value.trim());
  });
  store.watch(['basket'], ({ basket }) => markChosen(list, basket));
  load('');

  return h('section', { class: 'card shelf-card', 'aria-label': 'Shelf' },
    h('h2', null, h('label', { for: 'shelf-search' }, 'Shelf')), input, list, more);
}
