// What the model is worth on baskets that it has not seen, beside models that only count.
import { api } from './api.js';
import { fill, h } from './dom.js';
import { select } from './fields.js';
import { empty, failed, waiting } from './notice.js';
import { qualityChart } from './quality_chart.js';
import { modelFacts } from './model_facts.js';

const again = 1500; // milliseconds between questions while the server still evaluates

function table(rows, names) {
  const valueOf = (r, name) => r.metrics[name]?.value ?? null;
  const best = new Map(names.map((name) => [name, Math.max(...rows.map((r) => valueOf(r, name)))]));
  const cell = (r, name) => {
    const value = valueOf(r, name);
    return h('td', { class: value === best.get(name) ? 'best' : null }, value === null ? '–' : value.toFixed(3));
  };
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Measures' },
    h('table', null,
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Model'), names.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', null, rows.map((r) => h('tr', null, h('th', { scope: 'row' }, r.model), names.map((name) => cell(r, name)))))));
}

function results({ models: rows }) {
  const names = Object.keys(rows[0].metrics);
  const chartPlace = h('div');
  const draw = (name) => fill(chartPlace, qualityChart(rows, name));
  const first = names.includes('HR@10') ? 'HR@10' : names.at(-1);
  draw(first);
  return [
    h('p', { class: 'quiet' }, 'Each customer’s last basket was kept back; the models say what comes next in it.'),
    table(rows, names),
    h('div', { class: 'measure' }, select('Measure', names.map((name) => [name, name]), first, draw), chartPlace),
  ];
}

export function qualityView() {
  const place = h('div', null, waiting('Evaluating …'));
  const facts = h('div');
  async function load() {
    try {
      const answer = await api.quality();
      if (answer.ready) fill(place, results(answer));
      else if (answer.failure) fill(place, empty(answer.failure));
      else setTimeout(load, again);
    } catch (error) {
      fill(place, failed(error, load));
    }
  }
  load();
  api.model().then((answer) => fill(facts, modelFacts(answer)), (error) => fill(facts, failed(error)));
  return [
    h('section', { class: 'card quality-card', 'aria-label': 'Quality' }, h('h2', null, 'On baskets it has not seen'), place),
    h('section', { class: 'card', 'aria-label': 'The model' }, h('h2', null, 'The model'), facts,
      h('p', { class: 'quiet' }, h('a', { href: '/licences.txt' }, 'Licences of what this page is made of'))),
  ];
}
