// Customers of two kinds, on synthetic data: their maps side by side, and what a missing category does to each.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { jobResult, launch, openPage, picture } from './browser.mjs';
import { serve, twoGroups } from './server.mjs';

let browser;
let server;
let page;
let clean;
before(async () => {
  server = await serve(twoGroups, '--store', 'none');
  browser = await launch();
  ({ page, clean } = await openPage(browser, server.url));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test('the true groups are compared, each with the other and with everybody', async () => {
  await page.getByRole('link', { name: 'Maps' }).click();
  await page.getByLabel('Groups of customers').check();
  const figures = page.locator('figure');
  await figures.nth(2).waitFor();
  assert.deepEqual(await figures.locator('h2').allTextContents(), ['A', 'B', 'A against B']);
  assert.equal(await figures.first().locator('[aria-label=cell] rect').count(), 20 * 20);
  await picture(page, 'groups', { fullPage: true });
  await page.getByLabel('with', { exact: true }).selectOption({ label: 'Everybody' });
  assert.deepEqual(await figures.locator('h2').allTextContents(), ['A', 'Everybody', 'A against everybody']);
  await page.getByLabel('Groups', { exact: true }).selectOption({ label: '3 groups found by the model' });
  await figures.getByRole('heading', { name: 'Cluster 1', exact: true }).waitFor();
});

test('the cell that is pointed at is read out, and it is the number of the map', async () => {
  const answer = jobResult(page, ({ map }) => map === 'lift');
  await page.getByLabel('Map', { exact: true }).selectOption('lift');
  const { names, groups } = await answer;
  const figure = page.locator('figure').first();
  await figure.getByRole('heading', { name: groups[0].name }).waitFor();
  await figure.locator('[aria-label=cell] rect').nth(1).hover();
  const times = Math.exp(groups[0].values[0][1]).toFixed(2);
  const said = await figure.locator('.said').textContent();
  assert.ok(said.startsWith(`${names[0]} and ${names[1]} are in one basket `), said);
  assert.ok(Math.abs(parseFloat(said.match(/basket ([\d.]+) times/)[1]) - times) < 0.06, said);
});

test('a category leaves, and each kind of customer has a colour', async () => {
  await page.getByRole('link', { name: 'What if' }).click();
  const box = page.getByRole('combobox', { name: 'Category or item' });
  await box.fill('C19'); // the last of the categories
  await page.getByRole('option', { name: 'C19 category' }).click();
  await page.getByRole('checkbox', { name: 'Everybody' }).uncheck();
  await page.getByRole('checkbox', { name: 'The true groups' }).check();
  await page.getByLabel('What do people buy who go without?').check();
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.locator('.view-whatif svg').waitFor();
  assert.deepEqual(await page.locator('.keys li').allTextContents(), ['A', 'B']);
  await picture(page, 'whatif_groups');
});

test('nobody complained', () => clean());
