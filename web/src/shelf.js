// Everything that can be bought: search it, click it, and it is in the basket.
import { toggle } from './basket_actions.js';
import { findItems } from './catalogue.js';
import { fill, h } from './dom.js';
import { latest, settled } from './latest.js';
import { empty, failed } from './notice.js';
import { leaf, nameOf } from './words.js';

const shown = 60;

function itemButton(store, item) {
  return h('li', null,
    h('button', { type: 'button', class: 'item', 'data-item': item.item, onclick: () => toggle(store, item.item) },
      h('span', null, nameOf(item)), h('small', null, leaf(item.category))));
}

function markChosen(list, basket) {
  for (const button of list.querySelectorAll('[data-item]'))
    button.setAttribute('aria-pressed', String(basket.includes(button.dataset.item)));
}

export function shelfPanel(store) {
  const input = h('input', {
    type: 'search', id: 'shelf-search', placeholder: 'Search items', autocomplete: 'off', spellcheck: 'false',
  });
  const list = h('ul', { class: 'shelf' });
  const more = h('p', { class: 'quiet', hidden: true }, `The first ${shown}; search for more.`);

  const load = latest((text, signal) => findItems(text, shown, signal), ({ answer, error }, text) => {
    more.hidden = true;
    if (error) return fill(list, h('li', null, failed(error, () => load(text))));
    if (answer.length === 0) return fill(list, h('li', null, empty(`Nothing on the shelf is called “${text}”.`)));
    more.hidden = answer.length < shown;
    fill(list, answer.map((item) => itemButton(store, item)));
    markChosen(list, store.get().basket);
  });
  input.addEventListener('input', settled(() => load(input.value.trim()), 120));
  store.watch(['basket'], ({ basket }) => markChosen(list, basket));
  load('');

  return h('section', { class: 'card shelf-card', 'aria-label': 'Shelf' },
    h('h2', null, h('label', { for: 'shelf-search' }, 'Shelf')), input, list, more);
}
