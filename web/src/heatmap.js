// One heatmap: rows are bought next, columns are in the basket. Pointing at a cell, or walking over
// the map with the arrow keys, reads the cell out below.
import { axisX, axisY, cell } from '@observablehq/plot';
import { chart, cutTo, fitted, labelWidth } from './chart.js';
import { h } from './dom.js';
import { heatColour } from './heat_colours.js';
import { heatLegend } from './heat_legend.js';

function cellsOf(values) {
  return values.flatMap((line, row) => line.map((value, column) => ({ row, column, value })));
}

function drawing(labels, cells, limit, width) {
  const margin = labelWidth(labels, Math.min(150, width * 0.32));
  const size = Math.max(9, Math.min(30, (width - margin - 8) / labels.length));
  const fontSize = Math.min(12, size); // no taller than a row
  const domain = labels.map((_, i) => i);
  const short = cutTo(labels, (margin * 12) / fontSize);
  const plain = { tickFormat: (i) => short[i], tickSize: 0, label: null, fontSize };
  return chart({
    width: margin + 8 + size * labels.length,
    height: margin + 8 + size * labels.length,
    marginLeft: margin,
    marginTop: margin,
    marginRight: 8,
    marginBottom: 8,
    x: { domain, padding: 0.04, type: 'band' },
    y: { domain, padding: 0.04, type: 'band' },
    color: { type: 'identity' },
    marks: [
      axisX({ ...plain, anchor: 'top', tickRotate: -90, textAnchor: 'start' }),
      axisY({ ...plain, anchor: 'left' }),
      cell(cells, { x: 'column', y: 'row', fill: ({ value }) => heatColour(value, limit) }),
    ],
  });
}

const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Lets pointer and keys choose a cell; tells `read` which. */
function makeReadable(svg, count, read) {
  const rects = [...svg.querySelectorAll('[aria-label=cell] rect')];
  let at = null;
  function choose(next) {
    rects[at]?.classList.remove('chosen');
    at = next;
    rects[at].classList.add('chosen');
    rects[at].parentNode.append(rects[at]); // on top, so that its outline is whole
    read(at);
  }
  svg.setAttribute('tabindex', '0');
  svg.addEventListener('pointermove', ({ target }) => {
    const i = rects.indexOf(target);
    if (i >= 0 && i !== at) choose(i);
  });
  svg.addEventListener('keydown', (event) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const row = at === null ? 0 : Math.floor(at / count) + step[0];
    const column = at === null ? 0 : (at % count) + step[1];
    if (row >= 0 && row < count && column >= 0 && column < count) choose(row * count + column);
  });
}

/**
 * title, names; values[row][column], null where unknown; limit: the strongest colour's number;
 * format(number): as the colour bar shows it; say({ row, column, value }): a cell in words, with names.
 */
export function heatmap({ title, names, labels, values, limit, format, say }) {
  const said = h('p', { class: 'quiet said', 'aria-live': 'polite' }, 'Point at a cell, or use the arrow keys.');
  const cells = cellsOf(values);
  const place = fitted(h('div', { class: 'map' }), (width) => {
    const svg = drawing(labels, cells, limit, width);
    svg.setAttribute('role', 'application'); // arrow keys are ours
    svg.setAttribute('aria-label', `Map: ${title}. Use the arrow keys to move between cells.`);
    makeReadable(svg, names.length, (i) => {
      const { row, column, value } = cells[i];
      said.textContent = say({ row: names[row], column: names[column], value });
    });
    return svg;
  });
  return h('figure', { class: 'card' }, h('figcaption', null, h('h2', null, title)), place,
    heatLegend({ numbers: values.flat(), limit, format }), said);
}
