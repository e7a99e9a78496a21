// Why an item is recommended, as bars: how much likelier each thing in the basket, the past and
// the customer's own taste make it. Orange speaks for it, blue against,
// as in the maps and in the reports (src/report/report_html.c).
import { nameOf } from './catalogue.js';
import { h } from './dom.js';
import { times } from './words.js';

const shown = 5;

/** [{ label, effect }] of one recommended item: basket first, in its order. */
export function reasonsOf(why) {
  const list = why.basket.map(({ item, name, effect }) => ({ label: nameOf({ item, name }), effect }));
  if (why.history) list.push({ label: 'Earlier baskets', effect: why.history.effect, aside: true });
  if (why.user) list.push({ label: 'Own taste', effect: why.user.effect, aside: true });
  return list;
}

/** Where zero lies and how long one unit is, in percent of a bar's field, the same for all bars. */
export function scaleOf(lists) {
  const effects = lists.flat().map(({ effect }) => effect);
  const low = Math.min(0, ...effects);
  const high = Math.max(0.5, ...effects);
  const unit = 100 / (high - low);
  return { zero: (0 - low) * unit, unit };
}

function bar({ label, effect, aside }, { zero, unit }) {
  const fill = h('span', { class: effect < 0 ? 'fill against' : 'fill' });
  const length = Math.abs(effect) * unit;
  fill.style.insetInlineStart = `${effect < 0 ? zero - length : zero}%`;
  fill.style.inlineSize = `${length}%`;
  const axis = h('span', { class: 'axis' });
  axis.style.insetInlineStart = `${zero}%`;
  return h('li', { class: aside ? 'aside' : null, 'data-key': label },
    h('span', { class: 'label' }, label),
    h('span', { class: 'field', 'aria-hidden': 'true' }, fill, axis),
    h('span', { class: 'value' }, times(effect)));
}

/** The strongest few, kept in order; the number of others is shown. */
export function reasonBars(list, scale) {
  const strongest = [...list].sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)).slice(0, shown);
  const left = list.length - strongest.length;
  return h('ul', { class: 'reasons', 'aria-label': 'Reasons' },
    list.filter((reason) => strongest.includes(reason)).map((reason) => bar(reason, scale)),
    left > 0 && h('li', { class: 'quiet' }, `and ${left} more that matter less`));
}
