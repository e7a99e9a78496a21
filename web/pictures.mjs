// Takes the pictures of README.md from two servers that run: one on the corner shop's model, one on the
// model of ./demo with its data.
//   node pictures.mjs SHOP-URL DEMO-URL FOLDER      (then: pngquant --ext .png --force FOLDER/page_*.png)
import { join } from 'node:path';
import { launch } from './test/browser/browser.mjs';

const [shop, demo, folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node pictures.mjs SHOP-URL DEMO-URL FOLDER');
  process.exit(2);
}
const wide = { viewport: { width: 1280, height: 860 } };
const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

const browser = await launch();
async function take(name, url, context, prepare) {
  const page = await (await browser.newContext(context)).newPage();
  page.setDefaultTimeout(180_000);
  await page.goto(url);
  await prepare(page);
  await page.screenshot({ path: join(folder, `page_${name}.png`), animations: 'disabled' });
}

const basket = `${shop}/#basket?user=K02&item=1210&item=1028`;
const answered = (page) => page.locator('.hit').nth(5).waitFor();
await take('basket', basket, wide, answered);
await take('dark', basket, { ...wide, colorScheme: 'dark' }, answered);
await take('phone', basket, phone, async (page) => {
  await answered(page);
  await page.locator('.next').scrollIntoViewIfNeeded();
  await page.evaluate(() => scrollTo(0, document.querySelector('.next').offsetTop - 100));
});
await take('maps', `${demo}/#maps`, { viewport: { width: 1280, height: 1140 } }, async (page) => {
  await page.getByLabel('Groups of customers').check();
  await page.locator('figure svg').nth(2).waitFor();
});
await take('whatif', `${demo}/#whatif`, wide, async (page) => {
  await page.getByRole('combobox', { name: 'Category or item' }).fill('C18');
  await page.getByRole('option', { name: 'C18 category' }).click();
  await page.getByRole('checkbox', { name: 'Everybody' }).uncheck();
  await page.getByRole('checkbox', { name: 'The true groups' }).check();
  await page.getByLabel('What do people buy who go without?').check();
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.locator('.view-whatif svg').waitFor();
});
await browser.close();
