// The same answer in numbers and in one sentence.
import { h } from './dom.js';
import { groupLabel } from './groups.js';
import { percent, prose, sentence, shown } from './words.js';

const units = (n) => n.toFixed(3);

function row(r) {
  return h('tr', null,
    h('th', { scope: 'row' }, shown(r.category)), h('td', null, groupLabel(r.group)),
    h('td', null, units(r.before)), h('td', null, units(r.after)),
    h('td', null, percent(r.change)),
    h('td', null, `${percent(r.change_low)} … ${percent(r.change_high)}`));
}

export function whatifTable(rows) {
  const heads = ['Category', 'Group', 'Before', 'After', 'Change', 'Interval'];
  return h('details', null,
    h('summary', null, 'All numbers, in units a basket'),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'All numbers' },
      h('table', null,
        h('thead', null, h('tr', null, heads.map((head) => h('th', { scope: 'col' }, head)))),
        h('tbody', null, rows.map(row)))));
}

/** The largest change whose interval leaves zero out, or that there is none. */
export function summary(rows, scenario) {
  const sure = rows.filter((r) => r.change_low > 0 || r.change_high < 0);
  if (sure.length === 0) return `${sentence(prose(scenario))}: no change here is certain.`;
  const most = sure.reduce((a, b) => (Math.abs(b.change) > Math.abs(a.change) ? b : a));
  const word = most.change > 0 ? 'more' : 'less';
  const buys = most.question === 'selection'
    ? `baskets of ${groupLabel(most.group)} without it hold` : `${groupLabel(most.group)} would buy`;
  return `${sentence(prose(scenario))}: ${buys} ${Math.abs(most.change * 100).toFixed(1)}\u202f% ${word} of ${shown(most.category)} ` +
    `(${percent(most.change_low)} to ${percent(most.change_high)}).`;
}
