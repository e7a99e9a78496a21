// Small windows, keys alone, dark rooms, strict headers, a server that goes away.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fits, launch, openPage, picture } from './browser.mjs';
import { cornerShop, serve } from './server.mjs';

const views = ['basket', 'maps', 'whatif', 'quality'];
let browser;
let server;
before(async () => {
  server = await serve(cornerShop);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const start = '/#basket?user=K02&item=1210&item=1028';

test('on a phone of 360 pixels nothing sticks out, and fingers hit', async () => {
  const { page, clean } = await openPage(browser, server.url, {
    viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2,
  });
  await page.goto(server.url + start);
  await page.locator('.hit').first().waitFor();
  await fits(page, 'basket');
  await picture(page, 'phone');
  const low = await page.locator('main button:visible').evaluateAll((buttons) =>
    buttons.filter((b) => b.getBoundingClientRect().height < 24).map((b) => b.textContent));
  assert.deepEqual(low, []);
  for (const view of views) {
    await page.locator(`nav [data-view=${view}]`).tap();
    await page.locator(`.view-${view} .card`).first().waitFor();
    if (view === 'maps') await page.locator('figure svg').nth(2).waitFor();
    await fits(page, view);
  }
  await clean();
});

test('in a dark room the page is dark', async () => {
  const { page, clean } = await openPage(browser, server.url, { colorScheme: 'dark' });
  await page.goto(server.url + start);
  await page.locator('.hit').first().waitFor();
  const [ground, ink] = await page.evaluate(() => {
    const { backgroundColor, color } = getComputedStyle(document.body);
    return [backgroundColor, color];
  });
  assert.deepEqual([ground, ink], ['rgb(14, 16, 19)', 'rgb(230, 233, 236)']);
  await picture(page, 'dark');
  await clean();
});

/** What the focus is on, and whether one can see that. */
const focus = (page) => page.evaluate(() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  return { text: element.textContent.trim(), id: element.id, seen: outlineStyle !== 'none' && outlineWidth !== '0px' };
});

test('with keys alone: a customer, an item, a suggestion, another view', async () => {
  const { page, clean } = await openPage(browser, server.url);
  const press = (key) => page.keyboard.press(key);
  await page.locator('.hit').first().waitFor();
  await press('Tab');
  assert.deepEqual(await focus(page), { text: 'Skip to content', id: '', seen: true });
  await press('Enter');
  await press('Tab');
  await page.keyboard.type('K0');
  await page.getByRole('option').nth(3).waitFor();
  await press('ArrowDown');
  await press('ArrowDown');
  await press('Enter');
  await page.locator('.customer .who').getByText('K02').waitFor();
  await press('Tab');
  let now = await focus(page);
  for (let i = 0; i < 30 && now.id !== 'shelf-search'; i += 1) {
    assert.ok(now.seen, `the focus cannot be seen on "${now.text}"`);
    await press('Tab');
    now = await focus(page);
  }
  await page.keyboard.type('coffee beans');
  await page.locator('.item').nth(1).waitFor({ state: 'detached' });
  await press('Tab');
  await press('Enter');
  await page.locator('.basket').getByText('Coffee beans').waitFor();
  await page.locator('.hits:not([aria-busy])').waitFor();
  await page.locator('.add').first().focus();
  await press('Space');
  await page.getByText('Basket · 2').waitFor();
  await page.locator('.hits:not([aria-busy])').waitFor();
  assert.equal((await focus(page)).text, 'Add'); // the list is a new one, the focus stays in it
  await page.locator('.basket .icon').nth(1).focus();
  await press('Enter');
  await page.getByText('Basket · 1').waitFor();
  assert.equal((await focus(page)).text, '×');
  await page.locator('nav a').nth(1).focus();
  await press('Enter');
  await page.locator('figure').nth(2).waitFor();
  await clean();
});

test('the headers forbid what the page does not do', async () => {
  const response = await fetch(server.url);
  const policy = response.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  const text = await response.text();
  assert.doesNotMatch(text, /<style|style=|<script(?! type="module" src="\/)|https?:/);
  const again = await fetch(server.url, { headers: { 'if-none-match': response.headers.get('etag') } });
  assert.equal(again.status, 304);
});

test('every field and button has a name', async () => {
  const { page, clean } = await openPage(browser, server.url);
  for (const view of views) {
    await page.locator(`nav [data-view=${view}]`).click();
    await page.locator(`.view-${view} .card`).first().waitFor();
  }
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, input, select, a')].filter((element) => {
      const label = element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.[0]?.textContent;
      return !label;
    }).map((element) => element.outerHTML));
  assert.deepEqual(nameless, []);
  await clean();
});

test('what the server does not know is said in a sentence', async () => {
  const { page } = await openPage(browser, `${server.url}/#basket?item=no-such-item`);
  await page.getByRole('alert').getByText('The model does not know no-such-item').waitFor();
  await page.locator('.hit').first().waitFor(); // and is left out
});

test('when the server goes away the page says so', async () => {
  const { page } = await openPage(browser, server.url);
  await page.locator('.item').first().waitFor();
  assert.equal(await server.end(), 0);
  await page.locator('.item').first().click();
  await page.getByText('The server does not answer').first().waitFor();
});
