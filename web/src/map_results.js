// Two maps side by side, how they differ, and what stands out in each.
import { fill, h } from './dom.js';
import { select } from './fields.js';
import { groupLabel } from './groups.js';
import { heatLimit } from './heat_colours.js';
import { heatmap } from './heatmap.js';
import { mapKinds } from './map_kinds.js';
import { advice } from './notice.js';
import { difference, shortLabels, strongest } from './relations.js';
import { sentence, shown } from './words.js';

const listed = 6;

function list(title, cells, say) {
  return h('section', { class: 'card' }, h('h2', null, title),
    h('ol', { class: 'strongest' }, cells.map((cell) => h('li', null, say(cell)))));
}

/** What the baskets confirm of a map, with the counts below each sentence (docs/explanations.md). */
function findingsList(title, findings, none = 'Nothing that the baskets confirm.') {
  const items = findings.slice(0, listed).map(({ sentence: words, evidence }) =>
    h('li', null, shown(words), h('p', { class: 'quiet' }, shown(evidence))));
  return h('section', { class: 'card' }, h('h2', null, title),
    items.length > 0 ? h('ol', { class: 'strongest' }, items)
      : h('p', { class: 'quiet' }, none));
}

const sayer = (kind) => ({ row, column, value }) =>
  value === null ? `${row} with ${column} was not seen.` : kind.say(row, column, value);

const apartSayer = (kind, a, b) => ({ row, column, value }) =>
  value === null ? `${row} with ${column} was not seen in both.`
    : `${row} with ${column}: ${kind.format(value)} for ${a} against ${b}.`;

/** What the baskets confirm of the difference of two groups; undefined for a map without sentences. */
const contrastsOf = (contrasts, a, b) =>
  contrasts?.find(({ first, second }) => (first === a && second === b) || (first === b && second === a))?.findings;

/** The maps of two groups: { name, values }, on the axes `names`; found: contrastsOf them. */
function pair(kind, names, first, second, found) {
  const [a, b] = [first, second].map(({ name }) => groupLabel(name));
  const apart = difference(first.values, second.values);
  const limit = heatLimit([first.values, second.values].flat(2), kind.least);
  const say = sayer(kind);
  const sayApart = apartSayer(kind, a, b);
  const stands = ({ name, values, findings }) => (findings
    ? findingsList(`Strongest for ${groupLabel(name)}`, findings)
    : list(`Strongest for ${groupLabel(name)}`, strongest(names, values, listed), say));
  const shared = { names, labels: shortLabels(names), format: kind.format };
  return [
    h('div', { class: 'gallery' },
      heatmap({ ...shared, title: sentence(a), values: first.values, limit, say }),
      heatmap({ ...shared, title: sentence(b), values: second.values, limit, say }),
      heatmap({ ...shared, title: `${sentence(a)} against ${b}`, values: apart, limit: heatLimit(apart.flat(), kind.least), say: sayApart })),
    h('div', { class: 'gallery' },
      stands(first),
      stands(second),
      found ? findingsList('Where they differ most', found, 'No difference that the baskets confirm.')
        : list('Where they differ most', strongest(names, apart, listed), sayApart)),
  ];
}

/** Lists to choose the two groups from, where there are more than two. */
function chooser(groups, chosen, change) {
  if (groups.length < 3) return null;
  const options = groups.map(({ name }, i) => [i, sentence(groupLabel(name))]);
  const one = (label, at) =>
    select(label, options, chosen[at], (value) => change(chosen.map((old, i) => (i === at ? Number(value) : old))));
  return h('div', { class: 'row wrap short' }, one('Compare', 0), one('with', 1));
}

/** answer: of the job "relations", with two groups or more; offers: what else could be shown (notice.js). */
export function mapResults({ map, names: found, groups, contrasts }, offers) {
  const kind = mapKinds[map];
  const names = found.map(shown);
  if (groups.some(({ values }) => values === null)) return advice('This kind of model has no such map.', offers);
  if (names.length < 2) return advice('There are too few categories for a map.', offers);
  const place = h('div');
  const chosen = h('div');
  function show(two) {
    fill(chosen, chooser(groups, two, show));
    const [a, b] = two.map((at) => groups[at]);
    fill(place, pair(kind, names, a, b, contrastsOf(contrasts, a.name, b.name)));
  }
  show([0, 1]);
  return [
    h('div', { class: 'row wrap legends' },
      h('p', { class: 'quiet' }, 'Rows: what is bought next. Columns: what is in the basket.'),
      chosen),
    place,
  ];
}
