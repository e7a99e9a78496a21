// The colour bar of heatmaps.
import { h } from './dom.js';
import { heatColour, unknown } from './heat_colours.js';

const stepCount = 21;

function swatch(colour) {
  const element = h('span');
  element.style.background = colour;
  return element;
}

/** numbers: those of the map; limit: at the ends; format(number): text of the ends. */
export function heatLegend({ numbers, limit, format }) {
  const low = numbers.some((n) => n < 0) ? -limit : 0;
  const gaps = numbers.includes(null);
  const colours = Array.from({ length: stepCount }, (_, i) =>
    heatColour(low + ((limit - low) * i) / (stepCount - 1), limit));
  return h('div', { class: 'heat-legend' },
    h('span', null, format(low)),
    h('span', { class: 'ramp', 'aria-hidden': 'true' }, colours.map(swatch)),
    h('span', null, format(limit)),
    gaps && [h('span', { class: 'ramp one', 'aria-hidden': 'true' }, swatch(unknown)), h('span', null, 'not seen')]);
}
