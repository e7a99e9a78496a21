// What the server says of the model, as a list of words and values.
import { h } from './dom.js';
import { count } from './words.js';

function text(value) {
  if (typeof value === 'number') return Number.isInteger(value) ? count(value) : value.toPrecision(3);
  return String(value);
}

/** Plain values alone; names as the server has them. */
function entries(facts) {
  return Object.entries(facts).filter(([, value]) => value !== null && typeof value !== 'object');
}

const list = (facts) =>
  h('dl', { class: 'model-facts' }, entries(facts).map(([name, value]) => [h('dt', null, name.replaceAll('_', ' ')), h('dd', null, text(value))]));

export function modelFacts(facts) {
  const settings = facts.settings ?? facts.config;
  return [
    list(facts),
    settings && h('details', null, h('summary', null, 'Settings it was trained with'), list(settings)),
  ];
}
