// What stands in the place of an answer: nothing yet, still waiting, or what went wrong.
import { h } from './dom.js';

export const empty = (...text) => h('p', { class: 'notice' }, ...text);

export const waiting = (text) =>
  h('p', { class: 'notice waiting', role: 'status' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), text);

/** The sentence of an error, and a button that tries again. */
export function failed(error, retry) {
  return h('div', { class: 'notice failed', role: 'alert' },
    h('p', null, error.message),
    retry && h('button', { type: 'button', onclick: retry }, 'Try again'));
}
