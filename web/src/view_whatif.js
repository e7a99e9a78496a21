// What becomes of sales when the shelf changes.
import { api } from './api.js';
import { combobox } from './combobox.js';
import { fill, h, refill } from './dom.js';
import { checks, radios } from './fields.js';
import { everybody, groupLabel } from './groups.js';
import { latest } from './latest.js';
import { empty, failed, waiting } from './notice.js';
import { findOnlyItems, findThings } from './shelf_changes.js';
import { sentence } from './words.js';
import { whatifChart } from './whatif_chart.js';
import { summary, whatifTable } from './whatif_table.js';

const shown = 12;
const changes = [
  ['drop', 'Leaves the shelf'],
  ['only', 'Is all that stays'],
  ['add', 'Gets a new item beside it'],
];
const questions = [
  ['rechoice', 'What would the same people buy?', 'They take something else in its place.'],
  ['selection', 'What do people buy who go without?', 'Baskets without it, against all baskets.'],
];

function request({ change, things, groups, question }) {
  const named = change === 'add' ? things.map(({ key, label }) => `item=new ${label}:like=${key.slice(5)}`)
    : things.map(({ key }) => key);
  return { [change]: named, groups, question };
}

function byChange(rows) {
  const size = new Map();
  for (const r of rows) size.set(r.category, Math.max(size.get(r.category) ?? 0, Math.abs(r.change)));
  const best = [...size].sort((a, b) => b[1] - a[1]).slice(0, shown).map(([name]) => name);
  return best.flatMap((name) => rows.filter((r) => r.category === name));
}

function results(answer) {
  const all = answer.filter((r) => !r.dropped && r.change !== null);
  if (all.length === 0) return empty('Nothing is left whose sales could change.');
  const rows = byChange(all);
  return h('section', { class: 'card', 'aria-label': 'Answer' },
    h('h2', null, summary(rows, all[0].scenario)), whatifChart(rows), whatifTable(rows));
}

function chipsOf(state, update) {
  return state.things.map((thing) =>
    h('button', {
      type: 'button', class: 'chip', 'aria-label': `Take ${thing.label} out again`,
      onclick: () => update({ things: state.things.filter((other) => other !== thing) }),
    }, thing.label, ' ×'));
}

export async function whatifView() {
  const { groups: names } = await api.groups();
  const state = { change: 'drop', things: [], groups: [everybody], question: 'rechoice' };
  const place = h('div', { class: 'results' },
    empty('Choose a category or an item, and ask. The model answers; nothing has to be tried out on customers.'));
  const chips = h('div', { class: 'chips' });
  const ask = latest(api.whatif, ({ answer, error }, question) => {
    fill(place, error ? failed(error, () => ask(question)) : results(answer));
  });
  const button = h('button', { class: 'main', disabled: true }, 'Ask');

  function update(patch) {
    Object.assign(state, patch);
    if (state.change === 'add') state.things = state.things.filter(({ key }) => key.startsWith('item='));
    refill(chips, chipsOf(state, update));
    button.disabled = state.things.length === 0 || state.groups.length === 0;
  }
  const pick = (thing) => {
    if (!state.things.some(({ key }) => key === thing.key)) update({ things: [...state.things, thing] });
  };
  const find = (text, signal) => (state.change === 'add' ? findOnlyItems : findThings)(text, signal);

  const form = h('form', { class: 'card form', 'aria-label': 'The question' },
    combobox({ label: 'Category or item', placeholder: 'Search categories and items', ask: find, pick }),
    chips,
    radios('What happens', changes, state.change, (change) => update({ change })),
    radios('Question', questions, state.question, (question) => update({ question })),
    checks('For', names.map((name) => [name, sentence(groupLabel(name))]), state.groups, (chosen) => update({ groups: chosen })),
    h('div', { class: 'row' }, button));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    fill(place, waiting('Drawing baskets from the model …'));
    ask(request(state));
  });
  return [form, place];
}
