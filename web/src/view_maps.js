// What has to do with what: the map of a customer beside everybody's, or groups compared.
import { api } from './api.js';
import { allCategories } from './catalogue.js';
import { combobox } from './combobox.js';
import { chooseCustomer, findCustomers } from './customer.js';
import { fill, h } from './dom.js';
import { radios, select } from './fields.js';
import { everybody, waysApart } from './groups.js';
import { latest } from './latest.js';
import { mapKinds } from './map_kinds.js';
import { mapResults } from './map_results.js';
import { empty, failed, waiting } from './notice.js';
import { sentence } from './words.js';

const top = 20;

/** What to ask the server, or null while somebody has still to be chosen. */
function question({ compare, map, by, groups }, user) {
  const words = { map, by, top };
  if (compare === 'groups') return groups && { ...words, group: [...groups, everybody] };
  return user === null ? null : { ...words, user, group: everybody };
}

const hints = {
  customer: 'Choose a customer to see what goes together for them.',
  groups: 'Nothing tells these customers apart.',
};

const labelled = (pairs) => Object.entries(pairs).map(([key, { label }]) => [key, label]);

export async function mapsView(store) {
  const [categories, { groups: names }] = await Promise.all([allCategories(), api.groups()]);
  const ways = waysApart(names);
  const hasCategories = categories.length > 1;
  const choice = {
    compare: 'customer', map: 'drop', by: hasCategories ? 'category' : 'item', groups: ways[0]?.groups ?? null,
  };
  const place = h('div', { class: 'results' });
  const about = h('p', { class: 'quiet' });
  const chosen = h('p', { class: 'who', 'aria-live': 'polite' });
  const customer = h('div', null, combobox({
    label: 'Customer', placeholder: 'Search customers', ask: findCustomers,
    pick: (option) => chooseCustomer(store, option),
  }), chosen);
  const groups = select('Groups', ways.map(({ label }, i) => [i, sentence(label)]), 0,
    (i) => change({ groups: ways[i].groups }));
  const ask = latest(api.relations, ({ answer, error }, words) => {
    fill(place, error ? failed(error, () => ask(words)) : mapResults(answer));
  });

  function update() {
    fill(about, mapKinds[choice.map].about);
    customer.hidden = choice.compare !== 'customer';
    groups.hidden = choice.compare !== 'groups';
    const words = question(choice, store.get().user);
    fill(place, words ? waiting('Asking the model about their baskets …') : empty(hints[choice.compare]));
    if (words) ask(words);
  }
  function change(patch) {
    Object.assign(choice, patch);
    update();
  }
  store.watch(['user'], ({ user }) => {
    fill(chosen, user === null ? 'Nobody chosen yet' : h('strong', null, user));
    if (choice.compare === 'customer') update();
  });

  return [
    h('section', { class: 'card form', 'aria-label': 'Which maps' },
      radios('Compare', [['customer', 'A customer with everybody'], ['groups', 'Groups of customers']],
        choice.compare, (compare) => change({ compare })),
      customer, groups,
      h('div', { class: 'row wrap' },
        select('Map', labelled(mapKinds), choice.map, (map) => change({ map })),
        hasCategories && select('By', [['category', 'Categories'], ['item', 'Items']], choice.by,
          (by) => change({ by }))),
      about),
    place,
  ];
}
