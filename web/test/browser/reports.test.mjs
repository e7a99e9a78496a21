// Every report that the program writes, on a desk, on a phone and on paper: nothing is cut, nothing
// sticks out, and sentences are left-aligned.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launch, picture } from './browser.mjs';
import { examples, run, train } from './server.mjs';

// A4 without the margins of 15 mm that the style sheet asks for, at 96 dots an inch.
const paper = 680;
const small = ['--set', 'dim.user=8', '--set', 'dim.item=8'];

let browser;
let folder;
let data;
let model;
before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), 'parsrec-reports-'));
  // Names as long as those of real shops, which differ at their end.
  const items = (await readFile(join(examples, 'corner_shop_items.csv'), 'utf8')).trimEnd().split('\n');
  const long = items.slice(1).map((line) => {
    const [key, name, category] = line.split(',');
    return `${key},${name} FROM THE REGIONAL PRODUCERS' COOPERATIVE 12x0.75L,GOODS OF DAILY USE > ${category} AND SIMILAR ARTICLES`;
  });
  await writeFile(join(folder, 'items.csv'), [`${items[0]},price`, ...long.map((line, i) => `${line},${i % 7 + 1}.49`)].join('\n'));
  data = join(folder, 'shop.st');
  await run(['import', '-o', data, join(examples, 'corner_shop.csv'), '--items', join(folder, 'items.csv')]);
  model = await train(folder, data, ...small, '--epochs', '1');
});
after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** What is wrong with a page as it is laid out now. */
function faults() {
  const found = [];
  const width = window.innerWidth;
  const print = matchMedia('print').matches;
  const name = (node) => `${node.tagName.toLowerCase()} "${node.textContent.trim().slice(0, 40)}"`;
  const page = document.scrollingElement;
  if (page.scrollWidth > width) found.push(`the page is ${page.scrollWidth} wide in ${width}`);
  const pictures = [...document.querySelectorAll('.scroll, .map')].filter((box) => box.querySelector('svg'));
  for (const node of document.querySelectorAll('main *')) {
    const box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    if (box.width === 0 || style.visibility === 'hidden') continue;
    const scrolls = !print && pictures.some((p) => p.contains(node)); // wide maps do, on a screen
    if (!scrolls && (box.right > width + 1 || box.left < -1)) found.push(`${name(node)} ends at ${box.right} of ${width}`);
    const hides = style.overflowX !== 'visible' && !(node instanceof SVGElement);
    if (hides && !scrolls && node.scrollWidth > node.clientWidth + 1) found.push(`${name(node)} is cut`);
    if (node.matches('p, li, td') && node.textContent.length > 40 && !['start', 'left'].includes(style.textAlign))
      found.push(`${name(node)} is not left-aligned`);
    if (node.matches('.quiet') && parseFloat(style.fontSize) >= parseFloat(getComputedStyle(document.body).fontSize))
      found.push(`${name(node)}, which is aside, is ${style.fontSize} large`);
    if (node.matches('svg text')) {
      const frame = node.ownerSVGElement.getBoundingClientRect();
      if (box.left < frame.left - 2 || box.right > frame.right + 2) found.push(`${name(node)} leaves its picture`);
      const size = parseFloat(style.fontSize) * frame.width / node.ownerSVGElement.viewBox.baseVal.width;
      if (!print && size < 6) found.push(`${name(node)} is ${size} pixels high`);
    }
  }
  return found;
}

const sizes = {
  desk: { viewport: { width: 1280, height: 860 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
  paper: { viewport: { width: paper, height: 1000 } },
};

async function check(report, what) {
  for (const [size, options] of Object.entries(sizes)) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    if (size === 'paper') await page.emulateMedia({ media: 'print' });
    await page.goto(pathToFileURL(join(report, 'report.html')).href);
    await page.locator('h1').waitFor();
    assert.deepEqual(await page.evaluate(faults), [], `${what}, ${size}`);
    await picture(page, `report-${what}-${size}`, { fullPage: true });
    await page.locator('details').evaluateAll((all) => all.forEach((one) => { one.open = true; }));
    assert.deepEqual(await page.evaluate(faults), [], `${what}, ${size}, unfolded`);
    if (size === 'paper') {
      const pdf = await page.pdf({ preferCSSPageSize: true });
      assert.match(pdf.toString('latin1'), /\/MediaBox ?\[0 0 59[45][.\d]* 84[12][.\d]*\]/, `${what}: pages are A4`);
    }
    await context.close();
  }
}

const out = (name) => join(folder, name);

test('what-if', async () => {
  const quick = ['--draws', '4', '--resamples', '30'];
  await run(['whatif', model, data, '--drop', 'BAKERY AND SIMILAR ARTICLES', ...quick, '--question', 'both', '-o', out('whatif')]);
  await check(out('whatif'), 'whatif');
});

test('what-if where the truth is known', async () => {
  const few = ['--users', '60', '--sessions', '12', '--epochs', '1'];
  await run(['whatif', '--preset', 'paper', ...few, '--draws', '4', '--resamples', '30', '--truth-sets', '5', '-o', out('paper')]);
  await check(out('paper'), 'whatif-truth');
});

test('compare', async () => {
  const models = 'pop,personal,markov,a rather long name of a model=sasrec:dim.item=16,parsrec:dim.user=8:dim.item=8';
  await run(['compare', data, '--models', models, '--epochs', '1', '--seeds', '2', '--k', '1,5,10,20', '-o', out('compare')]);
  await check(out('compare'), 'compare');
});

test('ablate', async () => {
  await run(['ablate', data, '--preset', 'parts', '--epochs', '1', '-o', out('ablate')]);
  await check(out('ablate'), 'ablate');
});

test('tune', async () => {
  const drawn = ['dim.user=4..16', 'dim.item=4..16', 'rate=1e-4..1e-2(log)', 'loss=ce,bce', 'weight_decay=0,0.001'];
  await run(['tune', data, '--trials', '6', '--epochs', '2', ...drawn.flatMap((set) => ['--set', set]), '-o', out('tune')]);
  await check(out('tune'), 'tune');
});

test('explain', async () => {
  await run(['explain', model, data, '-o', out('explain')]);
  await check(out('explain'), 'explain');
  await run(['explain', model, data, '--by', 'item', '-o', out('items')]); // 47 rows, which a phone does not show at once
  await check(out('items'), 'explain-items');
});
