// Who is shopping: a search, and what is known of the one chosen.
import { api } from './api.js';
import { add } from './basket_actions.js';
import { nameOf, remember } from './catalogue.js';
import { combobox } from './combobox.js';
import { fill, h, update } from './dom.js';
import { latest } from './latest.js';
import { failed } from './notice.js';
import { roving } from './roving.js';
import { plural, shown } from './words.js';

const usualCount = 6;
const nobodyYet = { known: false, baskets: 0, items: [] };
const newcomers = new Set(); // named here first; the server hears of them when they buy something

/** Customers whose key holds the text; a text that matches no key may become a new customer. */
export async function findCustomers(text, signal) {
  const { users } = await api.users(text, 12, signal);
  const options = users.map(({ user, baskets }) => ({ key: user, label: shown(user), note: plural(baskets, 'basket') }));
  if (text && !users.some(({ user }) => user === text))
    options.push({ key: text, label: shown(text), note: 'somebody new', fresh: true });
  return options;
}

/** Makes somebody the customer whose basket it is. */
export function chooseCustomer(store, { key, fresh }) {
  if (fresh) newcomers.add(key);
  store.set({ user: key });
}

/** Whom the server does not know has no past. */
async function factsOf(user, signal) {
  if (newcomers.has(user)) return nobodyYet;
  try {
    return await api.user(user, signal);
  } catch (error) {
    if (error.status !== 404) throw error;
    return nobodyYet;
  }
}

function usual(store, items) {
  const chosen = items.slice(0, usualCount); // those in most baskets come first
  if (chosen.length === 0) return null;
  const chip = (item) =>
    h('button', { type: 'button', class: 'chip', 'data-key': item.item, onclick: () => add(store, item.item) },
      nameOf(item), ' ', h('small', null, `${item.count}×`));
  return [h('h3', null, 'Usually buys'), h('div', { class: 'chips' }, chosen.map(chip))];
}

function card(store, facts) {
  remember(facts.items);
  const past = facts.baskets > 0 ? plural(facts.baskets, 'earlier basket') : 'No earlier baskets';
  const note = facts.known ? '' : ' · new to the model, served as an unknown user';
  return [h('p', { class: 'quiet' }, past, note), usual(store, facts.items)];
}

export function customerPanel(store) {
  const who = h('p', { class: 'who', 'aria-live': 'polite' });
  const facts = roving(h('div', { class: 'facts' }));
  const guest = h('button', { type: 'button', class: 'link', onclick: () => store.set({ user: null }) }, 'Continue as guest');
  const load = latest(factsOf, ({ answer, error }, user) => {
    if (error) update(facts, failed(error, () => load(user)));
    else update(facts, card(store, answer));
  });

  store.watch(['bought'], () => newcomers.clear());
  store.watch(['user', 'bought'], ({ user }) => {
    fill(who, user === null ? 'A guest' : h('strong', null, shown(user)));
    guest.hidden = user === null;
    if (user === null) update(facts, h('p', { class: 'quiet' }, 'Unknown customer: only the basket counts.'));
    else load(user);
  });

  const search = combobox({
    label: 'Customer', placeholder: 'Search customers', ask: findCustomers,
    pick: (option) => chooseCustomer(store, option),
  });
  return h('section', { class: 'card customer', 'aria-label': 'Who is shopping' },
    h('h2', null, 'Who is shopping?'), h('div', { class: 'row spread' }, who, guest), facts, search);
}
