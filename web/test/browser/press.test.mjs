// What a finger or a mouse has pressed is what it gets, whatever arrives in the meantime; lists keep their
// elements; Enter and arrow keys; items of one name.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { serve, twins } from './server.mjs';

let browser;
let server;
before(async () => {
  server = await serve(twins);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Holds back answers of `path` until `go()`, which resolves when the page has had the answer. */
async function gate(page, path) {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  let asked;
  const isAsked = new Promise((resolve) => (asked = resolve));
  let handed;
  const isHanded = new Promise((resolve) => (handed = resolve));
  await page.route(path, async (route) => {
    const response = await route.fetch();
    asked();
    await opened;
    await route.fulfill({ response }).catch(() => {}); // the page may have given up the question
    handed();
  });
  async function go() {
    open();
    await isHanded;
    // The answer is parsed and, were nothing pressed, shown: several rounds of the page's event loop.
    await page.evaluate(async () => {
      for (let i = 0; i < 20; i += 1) await new Promise((resolve) => { setTimeout(resolve); });
      await new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });
    });
  }
  return { isAsked, go };
}

async function press(page, locator) {
  await locator.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await locator.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
}

test('an item of the shelf counts though another list arrives between press and release', async () => {
  const { page, clean } = await openPage(browser, server.url);
  const item = page.locator('.item').nth(3);
  await item.waitFor();
  const key = await item.getAttribute('data-item');
  const { isAsked, go } = await gate(page, '**/v1/items?q=bread*');
  await page.getByRole('searchbox').fill('bread'); // leaves that item out
  await isAsked;
  await press(page, item);
  await go();
  assert.equal(await item.getAttribute('data-item'), key); // nothing has moved
  await page.mouse.up();
  await page.locator(`.basket [data-item="${key}"]`).waitFor();
  await page.locator(`.shelf [data-item="${key}"]`).waitFor({ state: 'detached' }); // now it has
  await clean();
});

test('a suggestion counts though other suggestions arrive between press and release', async () => {
  const { page, clean } = await openPage(browser, server.url);
  await page.locator('.hit').nth(5).waitFor();
  const last = page.locator('.hit').nth(5);
  const key = await last.getAttribute('data-item');
  const { isAsked, go } = await gate(page, '**/v1/recommend');
  await page.getByLabel('Show').selectOption('3'); // leaves the sixth out
  await isAsked;
  await press(page, last.locator('.add'));
  await go();
  assert.equal(await page.locator('.hit').count(), 6);
  await page.mouse.up();
  await page.locator(`.basket [data-item="${key}"]`).waitFor();
  await page.locator('.hit').nth(5).waitFor({ state: 'detached' });
  await clean();
});

test('a late answer does not open a list of suggestions again', async () => {
  const { page, clean } = await openPage(browser, server.url);
  await page.getByRole('link', { name: 'What if' }).click();
  const field = page.getByRole('combobox', { name: 'Category or item' });
  const list = page.locator('.view-whatif .options:visible');
  await field.fill('bread');
  await list.locator('[role=option]').first().waitFor();
  const { isAsked, go } = await gate(page, '**/v1/items?q=milk*');
  await field.fill('milk');
  await isAsked;
  await list.locator('[role=option]').first().click();
  await go();
  assert.equal(await list.count(), 0);
  await field.press('ArrowDown'); // it opens on request
  await list.locator('[role=option]').first().waitFor();
  await clean();
});

test('elements that stay are the same elements, in a new order too', async () => {
  const { page, clean } = await openPage(browser, server.url);
  await page.getByLabel('Show').selectOption('12');
  await page.locator('.hit').nth(11).waitFor();
  const mark = (selector) => page.locator(selector).evaluateAll((all) => {
    for (const element of all) element.marked = element.dataset.item;
    return all.map((element) => element.dataset.item);
  });
  const before = await mark('.hit');
  await mark('.item');
  await page.locator('.item').first().click();
  await page.getByText('Basket · 1').waitFor();
  await page.locator('.hits:not([aria-busy])').waitFor();
  const now = await page.locator('.hit').evaluateAll((all) => all.map((element) => [element.dataset.item, element.marked]));
  const kept = now.filter(([item]) => before.includes(item));
  assert.ok(kept.length > 0);
  for (const [item, marked] of kept) assert.equal(marked, item);
  await page.getByRole('searchbox').fill('milk');
  await page.locator('.item').nth(20).waitFor({ state: 'detached' });
  const items = await page.locator('.item').evaluateAll((all) => all.map((element) => [element.dataset.item, element.marked]));
  assert.ok(items.length > 0);
  for (const [item, marked] of items) assert.equal(marked, item);
  await clean();
});

test('Enter adds the first item found, of the text that stands there', async () => {
  const { page, clean } = await openPage(browser, server.url);
  await page.locator('.item').first().waitFor();
  await page.getByRole('searchbox').fill('coffee beans');
  await page.keyboard.press('Enter'); // before the list has followed
  await page.locator('.basket').getByText('Coffee beans').waitFor();
  await page.keyboard.type('milk');
  assert.equal(await page.getByRole('searchbox').inputValue(), 'milk');
  await page.keyboard.press('Enter');
  await page.getByText('Basket · 2').waitFor();
  await page.locator('.basket').getByText('Milk').first().waitFor();
  await clean();
});

test('a list is one Tab stop, arrow keys walk in it', async () => {
  const { page, clean } = await openPage(browser, server.url);
  await page.locator('.item').nth(20).waitFor();
  await page.locator('.hit').nth(5).waitFor();
  const stops = (selector) => page.locator(`${selector} button`).evaluateAll((all) => all.filter((b) => b.tabIndex === 0).length);
  assert.equal(await stops('.shelf'), 1);
  assert.equal(await stops('.hits'), 1);
  await page.getByRole('searchbox').focus();
  const at = () => page.evaluate(() => document.activeElement.dataset.item ?? document.activeElement.className);
  const keys = await page.locator('.item').evaluateAll((all) => all.map((item) => item.dataset.item));
  await page.keyboard.press('Tab');
  assert.equal(await at(), keys[0]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await at(), keys[2]);
  await page.keyboard.press('ArrowUp');
  assert.equal(await at(), keys[1]);
  await page.keyboard.press('End');
  assert.equal(await at(), keys.at(-1));
  await page.keyboard.press('Home');
  assert.equal(await at(), keys[0]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  assert.equal(await at(), keys[1]); // where one was
  await page.keyboard.press('Space');
  await page.getByText('Basket · 1').waitFor();
  await page.locator('.hits:not([aria-busy])').waitFor();
  assert.equal(await at(), keys[1]); // the focus has stayed
  await clean();
});

test('items of one name are told apart by their keys', async () => {
  const { page, clean } = await openPage(browser, server.url);
  await page.getByRole('searchbox').fill('bread');
  await page.locator('.item').getByText('Bread (9001)').waitFor();
  await page.locator('.item').getByText('Bread (9002)').waitFor();
  await page.locator('.item').getByText('Bread (9001)').click();
  await page.locator('.basket').getByText('Bread (9001)').waitFor();
  await page.getByText('Basket · 1').waitFor();
  await clean();
});
