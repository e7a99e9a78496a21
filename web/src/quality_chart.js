// One measure of all models, with intervals.
import { axisX, axisY, dot, gridX, ruleX, ruleY } from '@observablehq/plot';
import { chart, cutTo, fitted, labelWidth } from './chart.js';
import { h } from './dom.js';

function drawing(all, name, width) {
  const rows = all.filter((r) => r.metrics[name]).map((r) => ({ model: r.model, ...r.metrics[name] }));
  const models = rows.map(({ model }) => model);
  const margin = labelWidth(models, width * 0.3);
  const short = cutTo(models, margin);
  const colour = (r) => (r === rows[0] ? 'var(--s0)' : 'var(--quiet)');
  return chart({
    width,
    height: 48 + 34 * rows.length,
    marginLeft: margin,
    marginRight: 16,
    marginBottom: 40,
    x: { zero: true, nice: true, ticks: Math.min(10, width / 60) },
    y: { domain: models, type: 'band' },
    color: { type: 'identity' },
    marks: [
      gridX(),
      axisX({ anchor: 'bottom', tickSize: 0, label: name, labelAnchor: 'center', labelArrow: 'none' }),
      axisY({ anchor: 'left', label: null, tickSize: 0, tickFormat: (_, i) => short[i] }),
      ruleX([0]),
      ruleY(rows, { y: 'model', x1: 'low', x2: 'high', stroke: colour, strokeWidth: 3 }),
      dot(rows, { y: 'model', x: 'value', fill: colour, r: 6 }),
    ],
  });
}

export function qualityChart(rows, name) {
  return fitted(h('div', { class: 'chart' }), (width) => {
    const svg = drawing(rows, name, width);
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', `${name} of each model; the numbers are in the table above.`);
    return svg;
  });
}
