// The measures of the quality view, and what they mean.

const meanings = [
  [/^HR@(\d+)$/, (k) => `The share of purchases that were among the first ${k} of the list. 1 is the best.`],
  [/^NDCG@(\d+)$/, (k) => `As HR@${k}, but a purchase counts more the higher it was ranked: 1 at the top of the list, ` +
    'falling with the logarithm of the rank.'],
  [/^MRR(?:@(\d+))?$/, () => 'The mean of 1 divided by the rank of the purchase: 1 at the top, 0.5 in second place.'],
  [/^Sess-Prec@(\d+)$/, (k) => `The share of a basket’s items that were among the first ${k} of the list when they were bought.`],
  [/^Recall@(\d+)$/, (k) => `The share of a basket’s items that the first ${k} of the list contain.`],
  [/^Precision@(\d+)$/, (k) => `The share of the first ${k} of the list that were bought.`],
];

/** A measure in a sentence; null for one that has none. */
export function meaning(name) {
  for (const [form, words] of meanings) {
    const match = form.exec(name);
    if (match) return words(match[1]);
  }
  return null;
}

/** The questions that are put to a model (docs/evaluation.md). */
export const protocols = {
  remaining: 'What else comes into this basket?',
  next: 'Which item exactly is next?',
  basket: 'What will be bought on this visit, before it starts?',
};
