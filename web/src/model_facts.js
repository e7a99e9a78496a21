// What the server says of the model, as a list of words and values.
import { h } from './dom.js';
import { count } from './words.js';

const names = {
  kind: 'Kind of model',
  parameters: 'Parameters',
  bytes: 'Bytes of its file',
  users: 'Customers',
  items: 'Items',
  categories: 'Categories',
  sessions: 'Baskets it learnt from',
  actions: 'Items in those baskets',
  data_checksum: 'Checksum of its data',
  synthetic: 'Synthetic data',
  number: 'Models loaded so far',
  loaded_at: 'Loaded',
  load_seconds: 'Seconds to load it',
  started_at: 'Server started',
  version: 'Version of parsrec',
};

function text(value) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return Number.isInteger(value) ? count(value) : value.toPrecision(3);
  return String(value);
}

/** Plain values alone. */
function entries(facts) {
  return Object.entries(facts).filter(([, value]) => value !== null && typeof value !== 'object');
}

const list = (facts, said) =>
  h('dl', { class: 'model-facts' }, entries(facts).map(([name, value]) => [h('dt', null, said(name)), h('dd', null, text(value))]));

export function modelFacts(facts) {
  const settings = facts.settings ?? facts.config;
  return [
    list(facts, (name) => names[name] ?? name.replaceAll('_', ' ')),
    settings && h('details', null, h('summary', null, 'Settings it was trained with'), list(settings, (name) => name)),
  ];
}
