// Names with markup, controls and text from right to left: the page shows them and does nothing else with them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, picture } from './browser.mjs';
import { hostile, hostileShop, serve } from './server.mjs';

let browser;
let server;
let page;
let clean;
before(async () => {
  server = await serve(hostileShop);
  browser = await launch();
  ({ page, clean } = await openPage(browser, `${server.url}/#basket?user=${encodeURIComponent(hostile.user)}`));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** No script ran, no element came from a name, no character turns the direction of what stands around it. */
async function unharmed() {
  const found = await page.evaluate(() => ({
    harm: window.harm ?? null,
    elements: [...document.querySelectorAll('main script, main img, main b, main i, main u, main [onerror], main [onclick]')]
      .map((element) => element.outerHTML),
    acting: document.body.textContent.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066\u2067]/g),
    isolates: [...document.body.textContent].filter((c) => c === '\u2068').length
      - [...document.body.textContent].filter((c) => c === '\u2069').length,
  }));
  assert.deepEqual(found, { harm: null, elements: [], acting: null, isolates: 0 });
}

test('shelf, basket, customer and reasons', async () => {
  await page.locator('.who').getByText(hostile.user, { exact: true }).waitFor();
  await page.locator('.item').nth(hostile.names.length - 1).waitFor();
  const names = await page.locator('.item span').allTextContents();
  for (const name of hostile.names.slice(0, 4)) assert.ok(names.includes(name), name);
  assert.ok(names.includes('\u2068שלום 12\u2069'), 'isolated');
  assert.ok(names.includes('\ufffdgnp.exe'), 'no direction is turned');
  for (const i of [0, 1, 6]) await page.locator(`[data-item="<u>${i}</u>"].item`).click();
  await page.getByText('Basket · 3').waitFor();
  await page.locator('.hits:not([aria-busy])').waitFor();
  await page.locator('.reasons .label').getByText(hostile.names[0]).first().waitFor();
  await unharmed();
  await picture(page, 'names');
});

test('maps', async () => {
  await page.getByRole('link', { name: 'Maps' }).click();
  await page.locator('figure svg').nth(2).waitFor();
  await unharmed();
  await page.getByLabel('By', { exact: true }).selectOption('item');
  await page.locator('figure svg').getByText('=SUM(A1)').first().waitFor();
  await unharmed();
  await page.getByLabel('Groups of customers').check();
  await page.getByLabel('Groups', { exact: true }).selectOption({ label: 'Buyers of categories' });
  await page.getByRole('combobox', { name: 'Buyers of a category' }).fill('BOLD');
  await page.locator('.options:visible [role=option]').first().click();
  await page.locator('figure').getByRole('heading', { name: 'Buyers of <b>BOLD</b>', exact: true }).waitFor();
  await unharmed();
});

test('what if', async () => {
  await page.getByRole('link', { name: 'What if' }).click();
  await page.getByRole('combobox', { name: 'Category or item' }).fill('BOLD');
  await page.locator('.options:visible [role=option]').first().click();
  await page.getByRole('combobox', { name: 'Buyers of a category' }).fill('=CAT');
  await page.locator('.options:visible [role=option]').first().click();
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.locator('.view-whatif svg').waitFor();
  await page.getByRole('heading', { name: 'Without <b>BOLD</b>' }).waitFor();
  assert.deepEqual(await page.locator('.keys li').allTextContents(), ['everybody', 'buyers of =CATEGORY']);
  await unharmed();
  await clean();
});
