// The page without a server: opened as a file, it answers as the program does.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { fits, launch, openPage, picture } from './browser.mjs';
import { examples, hostile, hostileShop, plainShop, program, run } from './server.mjs';

const build = process.env.PARSREC_BUILD ?? join(examples, '../build/release');
const file = join(build, 'parsrec.html');
const model = join(build, 'alone/shop.model');
let browser;
let folder;
before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), 'parsrec-alone-'));
});
after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

const open = (place = '', options = {}) => openPage(browser, pathToFileURL(file).href + place, options);
const answered = (page) => page.locator('.hits:not([aria-busy]) .hit').first().waitFor();

/** The answers of the program to these requests, by `parsrec recommend MODEL -`. */
async function native(file, requests) {
  const answers = execFile(program, ['recommend', file, '-'], { maxBuffer: 1 << 26 });
  answers.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  let text = '';
  for await (const part of answers.stdout) text += part;
  return text.trim().split('\n').map((line) => JSON.parse(line));
}

/** Requests of all kinds, the same at every run. */
async function requests(count) {
  const { stdout } = await run(['list', model, 'items', '-n', '0', '--json']);
  const items = JSON.parse(stdout).items.map(({ item }) => item);
  let state = 12345;
  const draw = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % n;
  };
  const some = (most) => Array.from({ length: draw(most + 1) }, () => items[draw(items.length)]);
  return Array.from({ length: count }, (_, i) => {
    const request = { basket: some(6), k: 1 + draw(12), explain: i % 3 === 0 };
    if (i % 5 > 0) request.user = i % 5 === 4 ? `nobody-${i}` : `K${String(1 + draw(60)).padStart(2, '0')}`;
    if (i % 7 === 1) request.history = some(9);
    if (i % 7 === 2) request.exclude = some(9);
    if (i % 7 === 3) request.max_per_category = 1;
    if (i % 11 === 5) request.basket.push('no such item');
    return request;
  });
}

/** Numbers may differ in their last bits: the processor fuses products with sums where a browser does not. */
function same(given, wanted, where) {
  if (typeof wanted === 'number' && !Number.isInteger(wanted))
    assert.ok(Math.abs(given - wanted) <= 1e-4 * (1 + Math.abs(wanted)), `${where}: ${given}, the program says ${wanted}`);
  else if (wanted !== null && typeof wanted === 'object') {
    assert.deepEqual(Object.keys(given), Object.keys(wanted), where);
    for (const key of Object.keys(wanted)) same(given[key], wanted[key], `${where}.${key}`);
  } else assert.equal(given, wanted, where);
}

test('a hundred requests have the answers of the program', async () => {
  const { page, clean } = await open();
  await answered(page);
  const asked = await requests(100);
  const given = await page.evaluate((list) => Promise.all(list.map((one) => window.parsrec.recommend(one))), asked);
  const wanted = await native(model, asked);
  assert.equal(given.length, 100);
  wanted.forEach((answer, i) => same(given[i], answer, `request ${i}`));
  assert.ok(wanted.some(({ items }) => items.length === 12) && wanted.some(({ unknown_items: left }) => left?.length > 0));
  await clean();
});

test('opened as a file it shows the shop, the reasons, and purchases that count at once', async () => {
  const { page, clean } = await open('#basket?user=K02&item=1210');
  await answered(page);
  await page.getByText('47 items · 60 customers').waitFor();
  const [{ items }] = await native(model, [{ user: 'K02', basket: ['1210'], k: 6 }]);
  const shown = await page.locator('.hit').evaluateAll((all) => all.map((hit) => hit.dataset.item));
  assert.deepEqual(shown, items.map(({ item }) => item));
  assert.ok(await page.locator('.hit .reasons li').count() > 0);
  await picture(page, 'alone');
  const past = await page.evaluate(() => window.parsrec.user('K02'));
  await page.getByRole('button', { name: 'Buy it' }).click();
  await page.getByText('Bought. 1 item added').waitFor();
  await page.getByText(`${past.baskets + 1} earlier baskets`).waitFor();
  await page.getByPlaceholder('Search customers').fill('Nobody');
  await page.getByRole('option', { name: 'somebody new' }).click();
  await page.getByText('No earlier baskets').waitFor();
  await clean();
});

test('another model file can be opened, and what is not one is refused with a sentence', async () => {
  const { page, clean } = await open();
  await answered(page);
  const chooser = page.getByLabel('Your own model file');
  for (const [make, facts] of [[plainShop, 'personal, 47 items'], [hostileShop, `parsrec, ${hostile.names.length} items`]]) {
    const [own] = await make(folder);
    await chooser.setInputFiles(own);
    await page.getByText(facts).waitFor();
    await answered(page);
    const [{ items }] = await native(own, [{ basket: [], k: 6 }]);
    assert.deepEqual(await page.locator('.hit').evaluateAll((all) => all.map((hit) => hit.dataset.item)), items.map(({ item }) => item));
  }
  assert.equal(await page.evaluate(() => window.harm), undefined);
  const bytes = await readFile(model);
  const broken = { 'cut.model': bytes.subarray(0, bytes.length - 100), 'empty.model': Buffer.alloc(0), 'text.model': Buffer.from('hello, this is no model at all') };
  bytes[bytes.length - 5000] ^= 1;
  broken['changed.model'] = bytes;
  for (const [name, content] of Object.entries(broken)) {
    await writeFile(join(folder, name), content);
    await chooser.setInputFiles(join(folder, name));
    assert.match(await page.getByRole('alert').locator('p').first().textContent(), /^this file: .{10,}/, name);
    await page.getByRole('button', { name: 'Back to the example' }).click();
    await answered(page);
  }
  await clean();
});

test('it fits a phone, and is smaller than a megabyte', async () => {
  assert.ok((await readFile(file)).length < 1_000_000);
  const { page, clean } = await open('', { viewport: { width: 360, height: 740 } });
  await answered(page);
  await fits(page, 'the page without a server');
  await clean();
});
