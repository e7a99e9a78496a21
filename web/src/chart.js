// Charts of Observable Plot under the page's rules: sizes follow the place they stand in, colours
// are the page's, and no style comes from a script.
import { plot } from '@observablehq/plot';
import { fill } from './dom.js';
import { cutLabels } from './relations.js';

/** A plot as an SVG element. The style sheet it carries is taken out: ours has the same rules. */
export function chart(options) {
  const svg = plot({ className: 'plot', ...options });
  svg.querySelector('style')?.remove();
  return svg;
}

/** Draws into `place` with its width, and again when the width changes. draw(width) -> element. */
export function fitted(place, draw) {
  let width = 0;
  const observer = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now === 0 || now === width) return; // 0: the view is hidden
    width = now;
    fill(place, draw(width));
  });
  observer.observe(place);
  return place;
}

const ruler = document.createElement('canvas').getContext('2d');
const gap = 12; // between a label and what it names

function pixelsOf(text) {
  ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return Math.ceil(ruler.measureText(text).width);
}

/** Pixels that the longest of these texts takes as a label of an axis, at most `most`. */
export function labelWidth(texts, most) {
  return Math.min(most, Math.max(...texts.map(pixelsOf)) + gap);
}

/** Texts cut to what fits into labels of `pixels`, and still told apart. */
export const cutTo = (texts, pixels) => cutLabels(texts, (text) => pixelsOf(text) + gap <= pixels);
