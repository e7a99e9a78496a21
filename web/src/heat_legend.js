// The colour bar of heatmaps.
import { h } from './dom.js';
import { heatColour, unknown } from './heat_colours.js';

const stepCount = 21;

function swatch(colour) {
  const element = h('span');
  element.style.background = colour;
  return element;
}

/** limit: number at the ends; both: numbers below zero occur; format(number): text of the ends. */
export function heatLegend({ limit, both, gaps, format }) {
  const low = both ? -limit : 0;
  const colours = Array.from({ length: stepCount }, (_, i) =>
    heatColour(low + ((limit - low) * i) / (stepCount - 1), limit));
  return h('div', { class: 'heat-legend' },
    h('span', null, format(low)),
    h('span', { class: 'ramp', 'aria-hidden': 'true' }, colours.map(swatch)),
    h('span', null, format(limit)),
    gaps && [h('span', { class: 'ramp one', 'aria-hidden': 'true' }, swatch(unknown)), h('span', null, 'not seen')]);
}
