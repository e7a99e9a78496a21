// Other servers: a shop without names and categories whose model only counts, and one that asks for a token.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage } from './browser.mjs';
import { plainShop, serve } from './server.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test('a shop without names and categories, a model that counts', async () => {
  const server = await serve(plainShop);
  try {
    const { page, clean } = await openPage(browser, `${server.url}/#basket?user=K02`);
    await page.locator('.hit').nth(5).waitFor();
    assert.equal(await page.getByLabel('of a category').isVisible(), false);
    await page.locator('.item').first().click();
    await page.getByText('Basket · 1').waitFor();
    await page.getByRole('link', { name: 'Maps' }).click();
    assert.equal(await page.getByLabel('By', { exact: true }).count(), 0);
    await page.getByLabel('Map', { exact: true }).selectOption('lift');
    await page.locator('figure svg').nth(2).waitFor();
    await page.getByRole('link', { name: 'Quality' }).click();
    await page.getByRole('region', { name: 'Measures' }).waitFor();
    await clean();
  } finally {
    await server.stop();
  }
});

test('what a model does not have is said in a sentence', async () => {
  const server = await serve(plainShop);
  try {
    const { page } = await openPage(browser, `${server.url}/#maps?user=K02`);
    await page.getByLabel('Map', { exact: true }).selectOption('attention');
    await page.getByRole('alert').getByText('no attention').waitFor();
  } finally {
    await server.stop();
  }
});

test('a server that other machines can reach asks for its token, and remembers it for the tab', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsrec-token-'));
  const file = join(folder, 'token');
  await writeFile(file, 'open-sesame-42-open-sesame\n', { mode: 0o600 });
  const server = await serve(plainShop, '--listen', '0.0.0.0:0', '--token-file', file);
  try {
    const { page } = await openPage(browser, server.url.replace('0.0.0.0', '127.0.0.1'));
    const give = async (word) => {
      await page.locator('dialog input').fill(word);
      await page.getByRole('button', { name: 'Continue' }).click();
    };
    await give('guess');
    await give('open-sesame-42-open-sesame');
    await page.locator('.hit').nth(5).waitFor();
    await page.reload();
    await page.locator('.hit').nth(5).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
