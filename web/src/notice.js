// What stands in the place of an answer: nothing yet, still waiting, or what went wrong.
import { h } from './dom.js';
import { prose } from './words.js';

export const empty = (...text) => h('p', { class: 'notice' }, ...text);

export const waiting = (text) =>
  h('p', { class: 'notice waiting', role: 'status' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), text);

/** offer: [label, act], advice that can be taken with one click. */
const offerButton = ([label, act]) => h('button', { type: 'button', onclick: act }, label);

/** A sentence with advice, and buttons that follow it. */
export const advice = (text, offers) =>
  h('div', { class: 'notice' }, h('p', null, text), h('div', { class: 'row wrap centre' }, offers.map(offerButton)));

/** How far long work is: { element, report(job) }. It can be cancelled. */
export function working(text, cancel, offers = []) {
  const bar = h('progress', { max: '1', 'aria-label': text });
  const said = h('p', { class: 'quiet', role: 'status' }, 'Starting …');
  const element = h('div', { class: 'notice working' }, h('p', null, text), bar, said,
    h('div', { class: 'row wrap centre' }, h('button', { type: 'button', onclick: cancel }, 'Cancel'), offers.map(offerButton)));
  function report({ status, progress, phase }) {
    const share = Math.floor(100 * progress);
    if (status === 'running') bar.value = progress;
    const words = status === 'queued' ? 'Waiting for other questions …' : `${share}\u202f% ${phase}`.trim();
    if (said.textContent !== words) said.textContent = words;
  }
  return { element, report };
}

/** The sentence of an error, a button that tries again, and others that do what it advises. */
export function failed(error, retry, offers = []) {
  return h('div', { class: 'notice failed', role: 'alert' },
    h('p', null, prose(error.message)),
    h('div', { class: 'row wrap' },
      retry && h('button', { type: 'button', onclick: retry }, 'Try again'), offers.map(offerButton)));
}
