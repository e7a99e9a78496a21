// Groups of customers by a category they buy: searched by text, kept as chips.
import { combobox } from './combobox.js';
import { h, update } from './dom.js';
import { groupLabel } from './groups.js';
import { roving } from './roving.js';
import { findCategories } from './shelf_changes.js';
import { sentence } from './words.js';

const groupOf = ({ key }) => `buyers:${key.slice('category='.length)}`;

/** change(groups) hears of every new choice: names such as "buyers:BAKERY". */
export function buyersField(change) {
  let groups = [];
  const chips = roving(h('div', { class: 'chips' }));
  function choose(next) {
    groups = next;
    update(chips, groups.map((group) =>
      h('button', {
        type: 'button', class: 'chip', 'data-key': group, 'aria-label': `Take ${groupLabel(group)} out again`,
        onclick: () => choose(groups.filter((other) => other !== group)),
      }, sentence(groupLabel(group)), ' ×')));
    change(groups);
  }
  const search = combobox({
    label: 'Buyers of a category', placeholder: 'Search categories', ask: findCategories,
    pick: (option) => groups.includes(groupOf(option)) || choose([...groups, groupOf(option)]),
  });
  return h('div', { class: 'buyers' }, search, chips);
}
