// What the model is worth on baskets that it has not seen, beside models that only count.
import { api } from './api.js';
import { fill, h } from './dom.js';
import { select } from './fields.js';
import { empty, failed, waiting } from './notice.js';
import { meaning, protocols } from './measures.js';
import { modelFacts } from './model_facts.js';
import { released } from './press.js';
import { qualityChart } from './quality_chart.js';
import { prose } from './words.js';

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
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Model'), names.map((name) => h('th', { scope: 'col', title: meaning(name) }, name)))),
      h('tbody', null, rows.map((r) => h('tr', null, h('th', { scope: 'row' }, r.model), names.map((name) => cell(r, name)))))));
}

const verdicts = {
  ahead: (model, other) => `${model} is better than counting (${other})`,
  level: (_, other) => `level with counting (${other}): the difference may be chance`,
  behind: (model, other) => `counting (${other}) is better than ${model}`,
  none: () => 'too few baskets to tell',
};

function protocolRow(model, { protocol, negatives, measure, value, baselines, best_baseline: best, verdict }) {
  const other = baselines.find((b) => b.model === best);
  const among = negatives > 0 ? `among ${negatives} other items` : 'in the whole catalogue';
  return h('tr', { class: verdict === 'behind' ? 'behind' : null },
    h('th', { scope: 'row' }, protocols[protocol] ?? protocol, h('small', null, ` ${among}, ${measure}`)),
    h('td', { class: 'words' }, (verdicts[verdict] ?? verdicts.none)(model, best)),
    h('td', null, value.toFixed(3)),
    h('td', null, other ? `${other.value.toFixed(3)} ${best}` : '–'));
}

const questionOf = ({ protocol, negatives }) =>
  `${protocols[protocol] ?? protocol}${negatives > 0 ? '' : ' (whole catalogue)'}`;

/** The verdicts of all protocols in one sentence. */
function headline(model, rows) {
  const those = (word) => rows.filter(({ verdict }) => verdict === word).map((row) => `“${questionOf(row)}”`);
  const [behind, level, ahead] = ['behind', 'level', 'ahead'].map(those);
  if (behind.length > 0) return `Counting is better than ${model} at ${behind.join(', ')}`;
  if (ahead.length === 0) return `${model} is not better than counting.`;
  if (ahead.length <= level.length)
    return `${model} is level with counting, and better only at ${ahead.join(', ')}`;
  if (level.length > 0) return `${model} is better than counting, but level at ${level.join(', ')}`;
  return `${model} is better than counting at every question.`;
}

/** Whether the model is worth more than counting, protocol by protocol; nothing where the server does not say. */
function verdict(baselines) {
  if (!baselines) return null;
  const { model, sentence, protocols: rows, verdict: whole } = baselines;
  return [
    h('div', { class: `verdict ${whole}`, role: whole === 'behind' ? 'alert' : null },
      h('p', null, h('strong', null, headline(model, rows))), h('p', { class: 'quiet' }, prose(sentence))),
    h('div', { class: 'scroll verdicts', tabindex: '0', role: 'region', 'aria-label': 'Beside counting' },
      h('table', null,
        h('thead', null, h('tr', null, ['Question', 'Verdict', model, 'Best count'].map((head) =>
          h('th', { scope: 'col', class: head === 'Verdict' ? 'words' : null }, head)))),
        h('tbody', null, rows.map((row) => protocolRow(model, row))))),
    h('h3', null, 'All measures'),
  ];
}

function results({ models: rows, baselines }) {
  const names = Object.keys(rows[0].metrics);
  const chartPlace = h('div');
  const about = h('p', { class: 'quiet', 'aria-live': 'polite' });
  function draw(name) {
    fill(about, meaning(name) ?? '');
    fill(chartPlace, qualityChart(rows, name));
  }
  const first = names.includes('HR@10') ? 'HR@10' : names.at(-1);
  draw(first);
  const explained = names.filter(meaning);
  return [
    verdict(baselines),
    h('p', { class: 'quiet' }, 'Each customer’s last basket was kept back; the models say what comes next in it.'),
    table(rows, names),
    explained.length > 0 && h('details', { class: 'measures' }, h('summary', null, 'What the measures mean'),
      h('dl', { class: 'model-facts' }, explained.map((name) => [h('dt', null, name), h('dd', null, meaning(name))]))),
    h('div', { class: 'measure' }, select('Measure', names.map((name) => [name, name]), first, draw), about, chartPlace),
  ];
}

export function qualityView() {
  const place = h('div', null, waiting('Evaluating …'));
  const facts = h('div');
  async function load() {
    try {
      const answer = await api.quality();
      await released();
      if (answer.ready) fill(place, results(answer));
      else if (answer.failure) fill(place, empty(prose(answer.failure)));
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
      h('p', { class: 'quiet' }, h('a', { href: '/licences.txt' }, 'Licences of the components of this page'))),
  ];
}
