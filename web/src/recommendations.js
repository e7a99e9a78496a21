// What comes next: asked again whenever the basket or the customer changes.
import { api } from './api.js';
import { add } from './basket_actions.js';
import { allCategories, nameOf, remember } from './catalogue.js';
import { fill, h, update } from './dom.js';
import { select } from './fields.js';
import { latest } from './latest.js';
import { empty, failed } from './notice.js';
import { reasonBars, reasonsOf, scaleOf } from './reasons.js';
import { roving } from './roving.js';
import { leaf, prose, shown } from './words.js';

const sources = {
  model: (user) => `for ${shown(user)}`,
  anyone: (user) => (user === null ? 'for a guest' : `${shown(user)} is new: answered as an unknown customer`),
  popular: () => 'best sellers',
};

/** How an item's place changed since the last answer. */
function movement(item, rank, before) {
  if (before.length === 0) return null;
  const old = before.indexOf(item);
  if (old === rank) return null;
  const [text, words] =
    old < 0 ? ['new', 'new in the list'] : old > rank ? [`▲${old - rank}`, 'up'] : [`▼${rank - old}`, 'down'];
  return h('span', { class: 'moved', title: words, 'data-key': `${text} at ${rank}` }, text); // a new one is seen to arrive
}

function card(store, hit, rank, scale, before) {
  const { why } = hit;
  return h('li', { class: 'hit', 'data-item': hit.item },
    h('div', { class: 'row spread' },
      h('h3', null, h('span', { class: 'rank' }, rank + 1), nameOf(hit), movement(hit.item, rank, before)),
      h('button', {
        type: 'button', class: 'add', 'aria-label': `Add ${nameOf(hit)}`, onclick: () => add(store, hit.item),
      }, 'Add')),
    h('p', { class: 'quiet' }, hit.category && h('span', null, leaf(hit.category)),
      why && h('span', { class: 'sentence' }, prose(why.sentence))),
    why && reasonBars(reasonsOf(why), scale));
}

function request({ user, basket, wanted, mostOfCategory }) {
  const question = { basket, k: wanted, explain: true };
  if (user !== null) question.user = user;
  if (mostOfCategory > 0) question.max_per_category = mostOfCategory;
  return question;
}

const choice = (store, key, label, options) =>
  select(label, options, store.get()[key], (value) => store.set({ [key]: Number(value) }));

async function timed(question, signal) {
  const start = performance.now();
  const answer = await api.recommend(question, signal);
  return { ...answer, milliseconds: performance.now() - start };
}

export function recommendationsPanel(store) {
  const list = roving(h('ol', { class: 'hits' }));
  const note = h('p', { class: 'quiet', role: 'status' });
  const leftOut = h('p', { class: 'notice failed', role: 'alert', hidden: true });
  let before = [];

  const ask = latest(timed, ({ answer, error }, question) => {
    list.removeAttribute('aria-busy');
    if (error) return update(list, h('li', { class: 'plain' }, failed(error, () => ask(question))));
    const hits = remember(answer.items);
    const scale = scaleOf(hits.map(({ why }) => (why ? reasonsOf(why) : [])));
    const unknown = answer.unknown_items ?? [];
    fill(leftOut, `The model does not know ${unknown.map(shown).join(', ')}; left out of the question.`);
    leftOut.hidden = unknown.length === 0;
    fill(note, `${sources[answer.source](answer.user)} · answered in ${answer.milliseconds.toFixed(0)} ms`);
    update(list, hits.length > 0 ? hits.map((hit, rank) => card(store, hit, rank, scale, before))
      : h('li', { class: 'plain' }, empty('Nothing is left to recommend.')));
    before = hits.map(({ item }) => item);
  });
  store.watch(['user', 'basket', 'wanted', 'mostOfCategory', 'bought'], (state) => {
    list.setAttribute('aria-busy', 'true');
    ask(request(state));
  });

  const ofCategory = choice(store, 'mostOfCategory', 'of a category',
    [[0, 'any number'], [1, 'at most 1'], [2, 'at most 2']]);
  allCategories().then((names) => (ofCategory.hidden = names.length === 0), () => {});

  return h('section', { class: 'card next', 'aria-label': 'What comes next' },
    h('div', { class: 'row spread wrap' }, h('h2', null, 'What comes next'),
      h('div', { class: 'row wrap short' },
        choice(store, 'wanted', 'Show', [[3, '3'], [6, '6'], [12, '12']]), ofCategory)),
    note, leftOut, list,
    h('p', { class: 'quiet legend' },
      'Bars: how many times as likely the item is because of each thing. ',
      h('span', { class: 'key for' }), ' speaks for it, ', h('span', { class: 'key against' }), ' against it.'));
}
