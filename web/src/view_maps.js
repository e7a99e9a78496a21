// What has to do with what: the map of a customer beside everybody's, or groups compared.
import { api } from './api.js';
import { buyersField } from './buyers.js';
import { allCategories } from './catalogue.js';
import { combobox } from './combobox.js';
import { chooseCustomer, findCustomers } from './customer.js';
import { fill, h } from './dom.js';
import { radios, select } from './fields.js';
import { everybody, waysApart } from './groups.js';
import { runJob } from './job.js';
import { latest } from './latest.js';
import { mapKinds } from './map_kinds.js';
import { mapResults } from './map_results.js';
import { empty, failed, working } from './notice.js';
import { sentence, shown } from './words.js';

const top = 20;

/** What to ask the server, or null while somebody has still to be chosen. */
function question({ compare, map, by, groups }, user) {
  const words = { map, by, top };
  if (compare === 'groups') return groups.length > 0 ? { ...words, group: [...groups, everybody] } : null;
  return user === null ? null : { ...words, user, group: [everybody] };
}

const labelled = (pairs) => Object.entries(pairs).map(([key, { label }]) => [key, label]);

export async function mapsView(store) {
  const [categories, { groups: names }] = await Promise.all([allCategories(), api.groups()]);
  const ways = waysApart(names);
  const hasCategories = categories.length > 1;
  const choice = {
    compare: 'customer', map: 'drop', by: hasCategories ? 'category' : 'item', groups: ways[0]?.groups ?? [],
  };
  const hints = {
    customer: 'Choose a customer to see what goes together for them.',
    groups: ways.length > 0 ? 'Choose a category whose buyers are to be compared.' : 'These customers do not differ.',
  };
  const place = h('div', { class: 'results' });
  const about = h('p', { class: 'quiet' });
  const chosen = h('p', { class: 'who', 'aria-live': 'polite' });
  const customer = h('div', null, combobox({
    label: 'Customer', placeholder: 'Search customers', ask: findCustomers,
    pick: (option) => chooseCustomer(store, option),
  }), chosen);

  const buyers = hasCategories && buyersField((groups) => change({ groups }));
  const options = ways.map(({ label }, i) => [i, sentence(label)]);
  if (buyers) options.push(['buyers', 'Buyers of categories']);
  const way = select('Groups', options, 0, (value) => {
    if (buyers) buyers.hidden = value !== 'buyers';
    change({ groups: ways[value]?.groups ?? [] });
  });
  const groups = h('div', null, way, buyers);
  if (buyers) buyers.hidden = true;
  const mapSelect = select('Map', labelled(mapKinds), choice.map, (map) => change({ map }));
  const bySelect = hasCategories && select('By', [['category', 'Categories'], ['item', 'Items']], choice.by,
    (by) => change({ by }));

  /** What may help where a map takes long, fails or is empty. */
  function offers() {
    const list = [];
    if (hasCategories && choice.by === 'item') list.push(['Group by category', () => change({ by: 'category' })]);
    if (hasCategories && choice.by === 'category') list.push(['Show items', () => change({ by: 'item' })]);
    if (choice.map !== 'lift') list.push(['Show what is bought together', () => change({ map: 'lift' })]);
    return list;
  }
  let progress = null;
  const ask = latest((words, signal) => runJob('relations', words, (job) => progress.report(job), signal),
    ({ answer, error }, words) => {
      fill(place, error ? failed(error, () => start(words), offers()) : mapResults(answer, offers()));
    });
  function start(words) {
    progress = working('Asking the model about their baskets …', () => {
      ask.cancel();
      fill(place, failed({ message: 'Cancelled.' }, () => start(words), offers()));
    }, choice.by === 'item' ? offers().slice(0, 1) : []);
    fill(place, progress.element);
    ask(words);
  }

  function show() {
    fill(about, mapKinds[choice.map].about);
    mapSelect.querySelector('select').value = choice.map;
    if (bySelect) bySelect.querySelector('select').value = choice.by;
    customer.hidden = choice.compare !== 'customer';
    groups.hidden = choice.compare !== 'groups';
    const words = question(choice, store.get().user);
    if (words) return start(words);
    ask.cancel();
    return fill(place, empty(hints[choice.compare]));
  }
  function change(patch) {
    Object.assign(choice, patch);
    show();
  }
  let cancelled = false; // by leaving the view
  store.watch(['user'], ({ user }) => {
    fill(chosen, user === null ? 'Nobody chosen yet' : h('strong', null, shown(user)));
    if (choice.compare !== 'customer') return;
    if (store.get().view === 'maps') show();
    else cancelled = true;
  });
  store.watch(['view'], ({ view }) => {
    if (view !== 'maps') cancelled = ask.cancel() || cancelled;
    else if (cancelled) {
      cancelled = false;
      show();
    }
  });

  return [
    h('section', { class: 'card form', 'aria-label': 'Which maps' },
      radios('Compare', [['customer', 'A customer with everybody'], ['groups', 'Groups of customers']],
        choice.compare, (compare) => change({ compare })),
      customer, groups,
      h('div', { class: 'row wrap' }, mapSelect, bySelect),
      about),
    place,
  ];
}
