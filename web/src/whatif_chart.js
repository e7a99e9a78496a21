// Changes of sales with their intervals: a dot and a line for each group, categories below each
// other.
import { axisFy, axisX, dot, gridX, ruleX, ruleY } from '@observablehq/plot';
import { chart, cutTo, fitted, labelWidth } from './chart.js';
import { h } from './dom.js';
import { groupLabel } from './groups.js';
import { shortLabels } from './relations.js';
import { shown } from './words.js';

const colourOf = (i) => `var(--s${i % 8})`;

function drawing(rows, groups, width) {
  const categories = [...new Set(rows.map(({ category }) => category))];
  const short = shortLabels(categories).map(shown);
  const margin = labelWidth(short, width * 0.38);
  const cut = cutTo(short, margin);
  const labels = new Map(categories.map((name, i) => [name, cut[i]]));
  const percent = (value) => 100 * value;
  const place = { fy: 'category', y: 'group' };
  // One group: orange and blue for more and less, as in the reports; several are told apart by colour.
  const colour = ({ group, change }) => (groups.length > 1 ? colourOf(groups.indexOf(group)) : colourOf(change > 0 ? 1 : 0));
  return chart({
    width,
    height: 48 + categories.length * (14 + 14 * groups.length),
    marginLeft: margin,
    marginRight: 16,
    marginTop: 8,
    marginBottom: 40,
    x: { nice: true, ticks: Math.min(10, width / 60) },
    y: { domain: groups, axis: null, type: 'point', padding: 1 },
    fy: { domain: categories, padding: 0 },
    color: { type: 'identity' },
    marks: [
      gridX(),
      axisX({ anchor: 'bottom', tickSize: 0, label: 'Change of sales, percent', labelAnchor: 'center', labelArrow: 'none' }),
      axisFy({ anchor: 'left', label: null, tickFormat: (name) => labels.get(name) }),
      ruleX([0]),
      ruleY(rows, {
        ...place, x1: (r) => percent(r.change_low), x2: (r) => percent(r.change_high), stroke: colour, strokeWidth: 2.5,
      }),
      dot(rows, { ...place, x: (r) => percent(r.change), fill: colour, r: 5 }),
    ],
  });
}

function legend(groups) {
  const key = (group, i) => {
    const mark = h('span', { class: 'dot' });
    mark.style.background = colourOf(i);
    return h('li', null, mark, groupLabel(group));
  };
  return groups.length > 1 && h('ul', { class: 'row wrap keys' }, groups.map(key));
}

/** rows: as the server gives them, of one question and estimator. */
export function whatifChart(rows) {
  const groups = [...new Set(rows.map(({ group }) => group))];
  const place = fitted(h('div', { class: 'chart' }), (width) => {
    const svg = drawing(rows, groups, width);
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', 'Changes of sales; the same numbers are in the table below.');
    return svg;
  });
  return [legend(groups), place];
}
