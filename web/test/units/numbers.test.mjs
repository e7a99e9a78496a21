// Small functions without a page: words, addresses, maps, bars.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as address from '../../src/address.js';
import { groupLabel, waysApart } from '../../src/groups.js';
import { meaning } from '../../src/measures.js';
import { reasonsOf, scaleOf } from '../../src/reasons.js';
import * as relations from '../../src/relations.js';
import { createStore } from '../../src/store.js';
import { summary } from '../../src/whatif_table.js';
import * as words from '../../src/words.js';

test('numbers in words', () => {
  assert.equal(words.percent(0.1234), '+12.3\u202f%');
  assert.equal(words.percent(-0.5, 0), '−50\u202f%');
  assert.equal(words.percent(-0.0001), '±0.0\u202f%');
  assert.equal(words.times(Math.LN2), '×2.0');
  assert.equal(words.times(Math.log(0.04)), '×0.04');
  assert.equal(words.times(Math.log(25)), '×25');
  assert.equal(words.plural(1, 'basket'), '1 basket');
  assert.equal(words.plural(1200, 'item'), '1,200 items');
  assert.equal(words.leaf('FOOD > BAKERY'), 'BAKERY');
  assert.equal(words.leaf(null), '');
});

test('an address says what is looked at, and nothing is lost on the way', () => {
  const state = { view: 'maps', user: 'Ä & B', basket: ['a,b', '7', 'c=d'] };
  assert.deepEqual(address.read(address.write(state)), state);
  assert.deepEqual(address.read(''), { view: 'basket', user: null, basket: [] });
  assert.deepEqual(address.read('#nowhere?item=1&item=1&item='), { view: 'basket', user: null, basket: ['1'] });
});

test('a store tells once, and only those who asked', () => {
  const store = createStore({ a: 1, b: 1 });
  const heard = [];
  store.watch(['a'], ({ a }) => heard.push(a));
  store.set({ a: 2, b: 2 });
  store.set({ a: 2 });
  store.set({ b: 3 });
  assert.deepEqual(heard, [1, 2]);
});

test('two maps, their difference and what stands out', () => {
  assert.deepEqual(relations.difference([[5, null]], [[3, 1]]), [[2, null]]);
  const best = relations.strongest(['x', 'y'], [[9, -2], [1, 9]], 5);
  assert.deepEqual(best, [{ row: 'x', column: 'y', value: -2 }, { row: 'y', column: 'x', value: 1 }]);
  const cut = relations.cutLabels(['PLASTERS IN TIN BOY', 'PLASTERS IN TIN DOG', 'ALARM CLOCK RED'], (text) => text.length <= 9);
  assert.deepEqual(cut, ['PLA…N BOY', 'PLA…N DOG', 'ALARM CL…']);
  assert.deepEqual(relations.cutLabels(['short', ''], () => true), ['short', '']);
  assert.deepEqual(relations.shortLabels(['A > N', 'B > N', 'B > M']), ['A > N', 'B > N', 'M']);
});

test('bars of reasons share one scale', () => {
  const why = {
    basket: [{ item: '1', name: null, effect: 1.5 }], history: { effect: -0.5 }, user: null,
  };
  const list = reasonsOf(why);
  assert.deepEqual(list.map(({ label }) => label), ['1', 'Earlier baskets']);
  assert.deepEqual(scaleOf([list]), { zero: 25, unit: 50 });
  assert.deepEqual(scaleOf([[]]), { zero: 0, unit: 200 });
});

test('groups in words, values of a feature together', () => {
  assert.equal(groupLabel('user:K02'), 'K02');
  assert.equal(groupLabel('cluster:3'), '3 groups found by the model');
  assert.deepEqual(waysApart(['everybody', 'truth', 'town=A', 'town=B']), [
    { label: 'the true groups', groups: ['truth'] },
    { label: 'by town', groups: ['town=A', 'town=B'] },
  ]);
});

test('names are shown and do nothing else', () => {
  assert.equal(words.shown('<b>"x"</b>'), '<b>"x"</b>');
  assert.equal(words.shown('two\nlines\t\u001b[1m\u009b'), 'two lines \ufffd[1m\ufffd');
  assert.equal(words.shown('a\u2069\u202eb'), 'a\ufffd\ufffdb');
  assert.equal(words.shown('שלום 12'), '\u2068שלום 12\u2069');
  assert.equal(words.prose('with שלום & שלום 2 times'), 'with \u2068שלום & שלום\u2069 2 times');
});

test('groups of buyers, and measures in words', () => {
  assert.equal(groupLabel('buyers:FOOD > DAIRY'), 'buyers of FOOD > DAIRY');
  assert.match(meaning('NDCG@20'), /HR@20/);
  assert.equal(meaning('Nonsense@1'), null);
});

test('the sentence above a what-if is of the change that is surely the largest', () => {
  const row = (category, change, change_low, change_high) => ({ group: 'everybody', question: 'rechoice', category, change, change_low, change_high });
  const few = row('SIGN', 0.028, 0.005, 0.097);
  const many = row('TEACUP', 0.016, 0.013, 0.021);
  assert.match(summary([few, many], 'without CAKESTAND'), /1\.6.% more of TEACUP/);
  assert.match(summary([many, row('SCALES', -0.04, -0.05, -0.03)], 'without CAKESTAND'), /4\.0.% less of SCALES/);
  assert.match(summary([row('BOWL', 0.5, -0.1, 0.9)], 'without CAKESTAND'), /no change here is certain/);
});
