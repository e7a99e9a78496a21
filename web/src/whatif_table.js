// The same answer in numbers and in one sentence.
import { h } from './dom.js';
import { groupLabel } from './groups.js';
import { percent, prose, sentence, shown } from './words.js';

const units = (n) => (n === null ? '–' : n.toFixed(3));
const share = (n) => (n === null ? '–' : percent(n));
const money = (n) => (n === null || n === undefined ? '–' : n.toFixed(2));
const sums = { leaves: 'What leaves the shelf', total: 'Everything' };

/** The arrow beside a change; none beside one that is shown as zero. */
export function arrow(change) {
  const shownAs = share(change);
  return shownAs.startsWith('+') ? 'more' : shownAs.startsWith('−') ? 'less' : null;
}

function row(r, hasGroups, hasMoney) {
  const { revenue_before: paidBefore, revenue_after: paidAfter } = r;
  return h('tr', { class: r.kind in sums ? 'sum' : null },
    h('th', { scope: 'row' }, sums[r.kind] ?? shown(r.category)), hasGroups && h('td', null, groupLabel(r.group)),
    h('td', null, units(r.before)), h('td', null, units(r.after)), h('td', { class: arrow(r.change) }, share(r.change)),
    h('td', null, r.change_low === null ? '–' : `${percent(r.change_low)} … ${percent(r.change_high)}`),
    hasMoney && [h('td', null, money(paidBefore)), h('td', null, money(paidAfter))]);
}

export function whatifTable(rows) {
  const hasMoney = rows.some((r) => Number.isFinite(r.revenue_before));
  const hasGroups = new Set(rows.map(({ group }) => group)).size > 1;
  const heads = ['Category or item', hasGroups && 'Group', 'Before', 'After', 'Change', 'Interval',
    ...(hasMoney ? ['Money before', 'Money after'] : [])].filter(Boolean);
  return h('details', null,
    h('summary', null, hasMoney ? 'All numbers: units and money per basket' : 'All numbers: units per basket'),
    h('div', { class: 'scroll sales', tabindex: '0', role: 'region', 'aria-label': 'All numbers' },
      h('table', null,
        h('thead', null, h('tr', null, heads.map((head) => h('th', { scope: 'col' }, head)))),
        h('tbody', null, rows.map((r) => row(r, hasGroups, hasMoney))))));
}

/** What a change is at least, by its interval. A large change of few sales has a wide one, and is no headline. */
const atLeast = (r) => Math.max(r.change_low, -r.change_high);

/** The change that is surely the largest, or a sentence that none is certain. */
export function summary(rows, scenario) {
  const sure = rows.filter((r) => r.change_low > 0 || r.change_high < 0);
  if (sure.length === 0) return `${sentence(prose(scenario))}: no change here is certain.`;
  const most = sure.reduce((a, b) => (atLeast(b) > atLeast(a) ? b : a));
  const word = most.change > 0 ? 'more' : 'less';
  const buys = most.question === 'selection'
    ? `baskets of ${groupLabel(most.group)} without it hold` : `${groupLabel(most.group)} would buy`;
  return `${sentence(prose(scenario))}: ${buys} ${Math.abs(most.change * 100).toFixed(1)}\u202f% ${word} of ${shown(most.category)} ` +
    `(${percent(most.change_low)} to ${percent(most.change_high)}).`;
}
