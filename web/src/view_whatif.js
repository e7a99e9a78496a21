// What becomes of sales when the shelf changes.
import { api } from './api.js';
import { buyersField } from './buyers.js';
import { allCategories } from './catalogue.js';
import { combobox } from './combobox.js';
import { fill, h, update } from './dom.js';
import { checks, radios } from './fields.js';
import { everybody, groupLabel } from './groups.js';
import { runJob } from './job.js';
import { latest } from './latest.js';
import { empty, failed, working } from './notice.js';
import { roving } from './roving.js';
import { findOnlyItems, findThings } from './shelf_changes.js';
import { sentence } from './words.js';
import { whatifChart } from './whatif_chart.js';
import { summary, whatifTable } from './whatif_table.js';

const shown = 12;
const changes = [
  ['drop', 'Leaves the shelf'],
  ['only', 'Is the only one left'],
  ['add', 'Gets a new item beside it'],
];
const questions = [
  ['rechoice', 'What would the same people buy?', 'They take something else in its place.'],
  ['selection', 'What do people buy who go without?', 'Baskets without it, against all baskets.'],
];

function request({ change, things, groups, buyers, question }) {
  const named = change === 'add' ? things.map(({ key, label }) => `item=new ${label}:like=${key.slice(5)}`)
    : things.map(({ key }) => key);
  return { [change]: named, groups: [...groups, ...buyers], question };
}

/** Those that change most in units sold: a share of next to nothing says little. */
function byChange(rows) {
  const size = new Map();
  for (const r of rows) size.set(r.category, Math.max(size.get(r.category) ?? 0, Math.abs(r.after - r.before)));
  const best = [...size].sort((a, b) => b[1] - a[1]).slice(0, shown).map(([name]) => name);
  return best.flatMap((name) => rows.filter((r) => r.category === name));
}

const isSum = ({ kind }) => kind === 'leaves' || kind === 'total';

function results(answer) {
  const all = answer.filter((r) => !isSum(r) && !r.dropped && r.change !== null);
  if (all.length === 0) return empty('Nothing is left whose sales could change.');
  const rows = byChange(all);
  return h('section', { class: 'card', 'aria-label': 'Answer' },
    h('h2', null, summary(rows, all[0].scenario)), whatifChart(rows), whatifTable([...rows, ...answer.filter(isSum)]));
}

function chipsOf(state, change) {
  return state.things.map((thing) =>
    h('button', {
      type: 'button', class: 'chip', 'data-key': thing.key, 'aria-label': `Take ${thing.label} out again`,
      onclick: () => change({ things: state.things.filter((other) => other !== thing) }),
    }, thing.label, ' ×'));
}

export async function whatifView(store) {
  const [{ groups: names }, categories] = await Promise.all([api.groups(), allCategories()]);
  const state = { change: 'drop', things: [], groups: [everybody], buyers: [], question: 'rechoice' };
  const place = h('div', { class: 'results' },
    empty('Choose a category or an item, and ask. The model answers; nothing has to be tried out on customers.'));
  const chips = roving(h('div', { class: 'chips' }));
  const button = h('button', { class: 'main', disabled: true }, 'Ask');

  let progress = null;
  let last = null; // the question under way
  const ask = latest((question, signal) => runJob('whatif', question, (job) => progress.report(job), signal),
    ({ answer, error }, question) => fill(place, error ? failed(error, () => start(question)) : results(answer)));
  function stop(why) {
    if (ask.cancel()) fill(place, failed({ message: why }, () => start(last)));
  }
  function start(question) {
    last = question;
    progress = working('Drawing baskets from the model …', () => stop('Cancelled.'));
    fill(place, progress.element);
    ask(question);
  }
  store.watch(['view'], ({ view }) => view !== 'whatif' && stop('Cancelled, because you left this view.'));

  function change(patch) {
    Object.assign(state, patch);
    if (state.change === 'add') state.things = state.things.filter(({ key }) => key.startsWith('item='));
    update(chips, chipsOf(state, change));
    button.disabled = state.things.length === 0 || state.groups.length + state.buyers.length === 0;
  }
  const pick = (thing) => {
    if (!state.things.some(({ key }) => key === thing.key)) change({ things: [...state.things, thing] });
  };
  const find = (text, signal) => (state.change === 'add' ? findOnlyItems : findThings)(text, signal);

  const form = h('form', { class: 'card form', 'aria-label': 'The question' },
    combobox({ label: 'Category or item', placeholder: 'Search categories and items', ask: find, pick }),
    chips,
    radios('What happens', changes, state.change, (kind) => change({ change: kind })),
    radios('Question', questions, state.question, (question) => change({ question })),
    checks('For', names.map((name) => [name, sentence(groupLabel(name))]), state.groups, (groups) => change({ groups })),
    categories.length > 0 && buyersField((buyers) => change({ buyers })),
    h('div', { class: 'row' }, button));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    start(request(state));
  });
  return [form, place];
}
