// The four maps in words (docs/explanations.md).
import { factor, times } from './words.js';

const plain = (value) => (value < 0 ? '−' : '') + Math.abs(value).toFixed(2);

const aFifth = Math.log(1.2); // less than that is hardly worth a colour

export const mapKinds = {
  drop: {
    label: 'Effect on the next item',
    about: 'How many times as likely the row becomes because the column is in the basket: the model is asked ' +
      'again without it.',
    format: times,
    least: aFifth,
    say: (row, column, value) => `${row} is ${factor(value)} times as likely with ${column} in the basket.`,
  },
  lift: {
    label: 'Bought together',
    about: 'How many times as often both are in one basket as chance would have it. Counted, no model; half a ' +
      'basket is added to both counts, so that pairs with few baskets stay near ×1.',
    format: times,
    least: aFifth,
    say: (row, column, value) => `${row} and ${column} are in one basket ${factor(value)} times as often as by chance.`,
  },
  attention: {
    label: 'Attention',
    about: 'How much the model looks at the column while it expects the row. Attention is not the same as influence.',
    format: plain,
    least: 0.05,
    say: (row, column, value) => `While it expects ${row}, ${plain(value)} of the attention is on ${column}.`,
  },
  embedding: {
    label: 'Similarity in the model',
    about: 'Dot products of the learnt item embeddings. The same for everybody.',
    format: plain,
    least: 0.05,
    say: (row, column, value) => `${row} and ${column}: ${plain(value)}.`,
  },
};
