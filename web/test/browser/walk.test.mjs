// Walks the whole page as a new user would, on a real server, and fails on any complaint of the browser.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { jobResult, launch, openPage, picture } from './browser.mjs';
import { cornerShop, serve } from './server.mjs';

let browser;
let server;
let page;
let clean;
before(async () => {
  server = await serve(cornerShop);
  browser = await launch();
  ({ page, clean } = await openPage(browser, server.url));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const ask = async (path, body) => {
  const options = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await fetch(server.url + path, options)).json();
};
const next = () => page.getByRole('region', { name: 'What comes next' });
const basket = () => page.getByRole('region', { name: 'Basket', exact: true });
const shelf = () => page.getByRole('region', { name: 'Shelf' });
const customer = () => page.getByRole('region', { name: 'Who is shopping' });
const who = (name) => customer().locator('.who').getByText(name, { exact: true }).waitFor();
const answered = () => page.locator('.hits:not([aria-busy])').waitFor();
const keysOf = (rows) => rows.evaluateAll((all) => all.map((row) => row.dataset.item));
const shownItems = () => keysOf(next().locator('.hit'));
const basketKeys = () => keysOf(basket().locator('[data-item]'));

async function expectAnswer(request) {
  await answered();
  const { items } = await ask('/v1/recommend', { k: 6, ...request });
  assert.deepEqual(await shownItems(), items.map(({ item }) => item));
}

async function choose(box, text) {
  await box.fill(text);
  await page.getByRole('option').first().waitFor();
  await page.getByRole('option').first().click();
}

test('a guest sees the shelf and what is worth beginning with', async () => {
  assert.equal(await page.title(), 'Basket · parsrec');
  await page.getByText('47 items · 60 customers').waitFor();
  await shelf().getByRole('button').nth(46).waitFor();
  assert.equal(await shelf().getByRole('button').count(), 47);
  await basket().getByText('Nothing yet').waitFor();
  await who('A guest');
  await expectAnswer({ basket: [] });
});

test('items that are clicked go into the basket, and the answer follows with its reasons', async () => {
  const before = await shownItems();
  await shelf().getByRole('searchbox').fill('coffee');
  await shelf().getByRole('button', { name: 'Coffee beans' }).click();
  await basket().getByText('Coffee beans').waitFor();
  await expectAnswer({ basket: ['1210'] });
  assert.notDeepEqual(await shownItems(), before);
  assert.equal(await shelf().getByRole('button', { name: 'Coffee beans' }).getAttribute('aria-pressed'), 'true');
  const reasons = next().locator('.hit').first().getByRole('list', { name: 'Reasons' });
  await reasons.getByText('Coffee beans').waitFor();
  const dots = await next().locator('.sentence').first().evaluate((sentence) => {
    const line = sentence.parentNode.parentNode.appendChild(document.createElement('p'));
    const alone = line.appendChild(sentence.cloneNode(true)); // as of an item without a category
    const content = [sentence, alone].map((node) => getComputedStyle(node, '::before').content);
    line.remove();
    return content;
  });
  assert.deepEqual(dots, ['" · "', 'none']);
  assert.match(await reasons.locator('.value').first().textContent(), /^×\d/);
});

test('the bars are as long as the effects are large', async () => {
  const { items } = await ask('/v1/recommend', { basket: ['1210'], k: 6, explain: true });
  const effects = items.map(({ why }) => why.basket[0].effect);
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
  const bars = await next().locator('.hit').evaluateAll((hits) => hits.map((hit) => {
    const fill = hit.querySelector('.fill');
    return { width: fill.getBoundingClientRect().width, against: fill.classList.contains('against') };
  }));
  const unit = bars[0].width / Math.abs(effects[0]);
  bars.forEach(({ width, against }, i) => {
    assert.equal(against, effects[i] < 0);
    assert.ok(Math.abs(width - Math.abs(effects[i]) * unit) < 1.5, `bar ${i}`);
  });
});

test('a customer is found by key, and the answer becomes theirs', async () => {
  await choose(customer().getByRole('combobox'), 'K02');
  await customer().getByText('earlier baskets').waitFor();
  const { baskets } = await ask('/v1/users/K02');
  await customer().getByText(`${baskets} earlier baskets`).waitFor();
  await expectAnswer({ user: 'K02', basket: ['1210'] });
  await next().getByText('for K02').waitFor();
  await next().locator('.hit').first().getByText('Own taste').waitFor();
  assert.match(page.url(), /user=K02/);
});

test('a suggestion is added with one click, an item is taken out with another', async () => {
  const [first] = await shownItems();
  await next().getByRole('button', { name: /^Add / }).first().click();
  await basket().getByText('Basket · 2').waitFor();
  await expectAnswer({ user: 'K02', basket: ['1210', first] });
  await basket().getByRole('button', { name: 'Take Coffee beans out' }).click();
  await expectAnswer({ user: 'K02', basket: [first] });
  await shelf().getByRole('button', { name: 'Coffee beans' }).click();
  await expectAnswer({ user: 'K02', basket: [first, '1210'] });
});

test('how many, and how many of a category', async () => {
  await next().getByLabel('Show').selectOption('12');
  await expectAnswer({ user: 'K02', basket: await basketKeys(), k: 12 });
  await next().getByLabel('of a category').selectOption('1');
  await expectAnswer({ user: 'K02', basket: await basketKeys(), k: 12, max_per_category: 1 });
  await next().getByLabel('of a category').selectOption('0');
  await next().getByLabel('Show').selectOption('6');
  await answered();
  await picture(page, 'basket');
});

test('a link opens the same basket again', async () => {
  const [keys, items] = [await basketKeys(), await shownItems()];
  await page.reload();
  await basket().getByText('Basket · 2').waitFor();
  await basket().getByText('Coffee beans').waitFor();
  await answered();
  assert.deepEqual([await basketKeys(), await shownItems()], [keys, items]);
});

test('a purchase is stored, and the past follows at once', async () => {
  const { baskets } = await ask('/v1/users/K02');
  await basket().getByRole('button', { name: 'Buy it' }).click();
  await basket().getByText('Bought. 2 items').waitFor();
  await customer().getByText(`${baskets + 1} earlier baskets`).waitFor();
  assert.equal((await ask('/v1/users/K02')).baskets, baskets + 1);
  await expectAnswer({ user: 'K02', basket: [] });
});

test('somebody new is served as anyone, and has a past after the first purchase', async () => {
  await choose(customer().getByRole('combobox'), 'Zoë');
  await customer().getByText('No earlier baskets').waitFor();
  await shelf().getByRole('searchbox').fill('milk');
  await shelf().getByRole('button', { name: 'Milk' }).first().click();
  await basket().getByRole('button', { name: 'Buy it' }).click();
  await customer().getByText('1 earlier basket').waitFor();
  assert.equal((await ask(`/v1/users/${encodeURIComponent('Zoë')}`)).baskets, 1);
  await customer().getByRole('button', { name: 'Continue as guest' }).click();
  await who('A guest');
});

test('the map of a customer beside that of everybody', async () => {
  await page.getByRole('link', { name: 'Maps' }).click();
  await page.getByText('Choose a customer to see').waitFor();
  await choose(page.getByRole('combobox', { name: 'Customer' }), 'K02');
  const maps = page.locator('figure');
  await maps.nth(2).waitFor();
  const answer = await ask('/v1/relations?map=drop&by=category&user=K02&group=everybody&top=20');
  const count = answer.names.length;
  assert.equal(await maps.nth(0).locator('[aria-label=cell] rect').count(), count * count);
  const [{ findings }] = answer.contrasts;
  const apart = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Where they differ most' }) }).last();
  assert.equal(await apart.locator('li').count(), Math.min(6, findings.length));
  await apart.getByText(findings[0]?.sentence ?? 'No difference that the baskets confirm.').waitFor();
  const map = maps.nth(1).getByRole('application');
  await map.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await maps.nth(1).getByText(answer.names[1]).first().waitFor();
  assert.match(await maps.nth(1).locator('.said').textContent(), /times as likely|not seen/);
  await picture(page, 'maps');
});

test('groups, other maps, single items', async () => {
  await page.getByLabel('Groups of customers').check();
  await page.locator('figure').nth(2).waitFor();
  const { groups } = await ask('/v1/groups');
  assert.ok(groups.length >= 2);
  for (const kind of ['lift', 'attention', 'embedding']) {
    const answer = jobResult(page, ({ map }) => map === kind);
    await page.getByLabel('Map', { exact: true }).selectOption(kind);
    await answer;
    await page.locator('figure').nth(2).waitFor();
  }
  await page.getByLabel('By', { exact: true }).selectOption('item');
  await page.locator('figure').first().getByText('Milk').first().waitFor();
});

test('a category leaves the shelf', async () => {
  await page.getByRole('link', { name: 'What if' }).click();
  const button = page.getByRole('button', { name: 'Ask' });
  assert.equal(await button.isDisabled(), true);
  await choose(page.getByRole('combobox', { name: 'Category or item' }), 'dairy');
  await page.getByText('FOOD > DAIRY ×').waitFor();
  const answer = jobResult(page);
  await button.click();
  const rows = await answer;
  await page.locator('.view-whatif svg').waitFor();
  await page.getByText('Without FOOD > DAIRY').waitFor();
  await page.getByText('All numbers').click();
  const first = page.locator('.view-whatif tbody tr').first();
  const category = await first.locator('th').textContent();
  const row = rows.find((r) => r.category === category && r.change !== null);
  assert.equal(await first.locator('td').nth(0).textContent(), row.before.toFixed(3));
  assert.equal(await first.locator('td').nth(1).textContent(), row.after.toFixed(3));
  const total = page.locator('.view-whatif tbody tr').last(); // as much as before, and no arrow
  await total.getByText('±0.0').first().waitFor();
  assert.equal(await total.locator('.more, .less').count(), 0);
  await picture(page, 'whatif');
});

test('a new item comes beside one that is there', async () => {
  await page.getByLabel('Gets a new item beside it').check();
  assert.equal(await page.locator('.view-whatif .chip').count(), 0); // a category has no new item beside it
  await choose(page.getByRole('combobox', { name: 'Category or item' }), 'milk');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.locator('.view-whatif svg').waitFor();
});

test('what the model is worth', async () => {
  await page.getByRole('link', { name: 'Quality' }).click();
  const table = page.getByRole('region', { name: 'Measures' }).locator('table');
  await table.waitFor();
  const { models, baselines } = await ask('/v1/quality');
  assert.equal(await page.locator('.verdict .quiet').textContent(), baselines.sentence);
  assert.equal(await page.getByRole('region', { name: 'Beside counting' }).locator('tbody tr').count(), baselines.protocols.length);
  assert.deepEqual(await table.locator('tbody th').allTextContents(), models.map(({ model }) => model));
  const cell = await table.locator('tbody tr').first().locator('td').first().textContent();
  assert.equal(cell, Object.values(models[0].metrics)[0].value.toFixed(3));
  await page.getByLabel('Measure', { exact: true }).selectOption('NDCG@10');
  await page.locator('.view-quality svg').getByText('NDCG@10').waitFor();
  await page.getByText('Baskets it learnt from').waitFor();
  await page.getByText('Settings it was trained with').click();
  await page.getByText('dim.item').waitFor();
  await picture(page, 'quality');
});

test('Back goes back, and nobody complained on the way', async () => {
  await page.goBack();
  assert.equal(await page.title(), 'What if · parsrec');
  await clean();
});
