// Long questions: progress from the beginning, a way out, nothing left running; on jobs that are made up here.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, openPage, picture } from './browser.mjs';
import { plainShop, serve } from './server.mjs';

let browser;
let server;
before(async () => {
  server = await serve(plainShop);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Answers /v1/jobs with `state`, which the test changes; keeps what was asked. */
async function madeUp(page) {
  const jobs = { state: { status: 'queued', progress: 0, phase: '' }, started: [], cancelled: 0, asked: 0 };
  await page.route(/\/v1\/jobs/, async (route) => {
    const method = route.request().method();
    if (method === 'POST') jobs.started.push(route.request().postDataJSON());
    if (method === 'GET') jobs.asked += 1;
    if (method === 'DELETE') jobs.cancelled += 1;
    await route.fulfill({ json: { job: 'abc', ...jobs.state } });
  });
  return jobs;
}

async function until(holds, page) {
  while (!holds()) await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 20); }));
}

async function askWhatif(page) {
  await page.getByRole('combobox', { name: 'Category or item' }).fill('1210');
  await page.getByRole('option').first().click();
  await page.getByRole('button', { name: 'Ask' }).click();
}

const row = (category, kind, more) => ({
  scenario: 'without 1210', question: 'rechoice', group: 'everybody', category, kind, dropped: false,
  before: 0.5, after: 0.6, change: 0.2, change_low: 0.1, change_high: 0.3, revenue_before: 1, revenue_after: 1.25, ...more,
});

test('progress is shown, and the answer when it is there, with what leaves and the sum', async () => {
  const { page, clean } = await openPage(browser, `${server.url}/#whatif`);
  const jobs = await madeUp(page);
  await askWhatif(page);
  await page.getByText('Waiting for other questions').waitFor();
  assert.deepEqual(jobs.started, [{ kind: 'whatif', request: { drop: ['item=1210'], groups: ['everybody'], question: 'rechoice' } }]);
  jobs.state = { status: 'running', progress: 0.42, phase: 'drawing baskets' };
  await page.getByText('42\u202f% drawing baskets').waitFor();
  assert.equal(await page.getByRole('progressbar').evaluate((bar) => bar.value), 0.42);
  await picture(page, 'working');
  jobs.state = { status: 'done', progress: 1, phase: '', result: [
    row('A', 'line'), row('B', 'line', { after: 0.4, change: -0.2, change_low: -0.3, change_high: -0.1 }),
    row('1210', 'leaves', { after: 0, change: -1, change_low: -1, change_high: -1, dropped: true }), row('all', 'total')] };
  await page.locator('.view-whatif svg').waitFor();
  await page.getByText('All numbers: units and money per basket').click();
  const table = page.locator('.view-whatif table');
  assert.deepEqual(await table.locator('tbody th').allTextContents(), ['A', 'B', 'What leaves the shelf', 'Everything']);
  assert.equal(await table.locator('tbody tr').last().locator('td').last().textContent(), '1.25');
  assert.equal(jobs.cancelled, 0);
  await clean();
});

test('Cancel cancels, and the question can be asked again', async () => {
  const { page, clean } = await openPage(browser, `${server.url}/#whatif`);
  const jobs = await madeUp(page);
  jobs.state = { status: 'running', progress: 0.1, phase: '' };
  await askWhatif(page);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Cancelled.').waitFor();
  await until(() => jobs.cancelled === 1, page);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('progressbar').waitFor();
  assert.equal(jobs.started.length, 2);
  await clean();
});

test('whoever leaves the view, or the page, leaves no work behind', async () => {
  const { page, clean } = await openPage(browser, `${server.url}/#whatif`);
  const jobs = await madeUp(page);
  jobs.state = { status: 'running', progress: 0.1, phase: '' };
  await askWhatif(page);
  await page.getByText('10\u202f%').waitFor();
  await page.getByRole('link', { name: 'Basket' }).click();
  await until(() => jobs.cancelled === 1, page);
  await page.getByRole('link', { name: 'What if' }).click();
  await page.getByText('because you left this view').waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('10\u202f%').waitFor();
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide')));
  await until(() => jobs.cancelled === 2, page);
  await clean();
});

test('maps of everybody that take long are cancelled on leaving and asked for again on coming back', async () => {
  const { page, clean } = await openPage(browser, `${server.url}/#maps?user=K02`);
  const jobs = await madeUp(page);
  jobs.state = { status: 'running', progress: 0.3, phase: '' };
  await page.getByLabel('Map', { exact: true }).selectOption('lift');
  await page.getByText('30\u202f%').waitFor();
  await page.getByRole('link', { name: 'Quality' }).click();
  await until(() => jobs.cancelled >= 1, page);
  const before = jobs.started.length;
  await page.getByRole('link', { name: 'Maps' }).click();
  await until(() => jobs.started.length > before, page);
  assert.equal(jobs.started.at(-1).request.map, 'lift');
  await clean();
});

test('what fails comes with its reason and with what may help', async () => {
  const { page, clean } = await openPage(browser, `${server.url}/#basket?user=K02`);
  const jobs = await madeUp(page);
  jobs.state = { status: 'failed', progress: 0, phase: '', error: { code: 'bad_request', message: 'This model has no such map.' } };
  await page.getByRole('link', { name: 'Maps' }).click();
  await page.getByRole('alert').getByText('This model has no such map.').waitFor();
  await page.getByRole('button', { name: 'Show what is bought together' }).click();
  await until(() => jobs.started.at(-1).request.map === 'lift', page);
  assert.equal(await page.getByLabel('Map', { exact: true }).inputValue(), 'lift');
  await clean();
});

test('a model that is seldom better than counting does not read as better', async () => {
  const metrics = { 'NDCG@10': { value: 0.3, low: 0.2, high: 0.4 } };
  const quality = (...words) => ({ ready: true, models: [{ model: 'parsrec', metrics }],
    baselines: { model: 'parsrec', verdict: 'level', sentence: 'Words.',
      protocols: ['next', 'remaining', 'basket'].map((protocol, i) => ({ protocol, measure: 'NDCG@10', negatives: 100,
        value: 0.3, verdict: words[i], best_baseline: 'pop', baselines: [{ model: 'pop', value: 0.2 }] })) } });
  const headlines = [
    [['ahead', 'level', 'level'], 'parsrec is level with counting, and better only at “Which item exactly is next?”'],
    [['level', 'ahead', 'ahead'], 'parsrec is better than counting, but level at “Which item exactly is next?”'],
    [['ahead', 'ahead', 'ahead'], 'parsrec is better than counting at every question.'],
    [['level', 'level', 'level'], 'parsrec is not better than counting.'],
  ];
  for (const [words, headline] of headlines) {
    const { page, clean } = await openPage(browser, server.url);
    await page.route('**/v1/quality', (route) => route.fulfill({ json: quality(...words) }));
    await page.getByRole('link', { name: 'Quality' }).click();
    await page.locator('.verdict strong').waitFor();
    assert.equal(await page.locator('.verdict strong').textContent(), headline);
    await clean();
  }
});

test('the quality view says where counting is better', async () => {
  const { page, clean } = await openPage(browser, server.url);
  const metrics = { 'HR@10': { value: 0.5, low: 0.4, high: 0.6 }, 'NDCG@10': { value: 0.3, low: 0.2, high: 0.4 } };
  const protocol = (name, verdict) => ({
    protocol: name, measure: 'NDCG@10', negatives: 100, value: 0.3, verdict, best_baseline: 'personal',
    baselines: [{ model: 'pop', value: 0.1 }, { model: 'personal', value: 0.35 }],
  });
  await page.route('**/v1/quality', (route) => route.fulfill({ json: {
    ready: true, models: [{ model: 'parsrec', metrics }, { model: 'personal', metrics }],
    baselines: { model: 'parsrec', verdict: 'behind', sentence: 'Counting (personal) is better than parsrec in next.',
      protocols: [protocol('remaining', 'ahead'), protocol('next', 'behind'), protocol('basket', 'level')] },
  } }));
  await page.getByRole('link', { name: 'Quality' }).click();
  await page.getByRole('alert').getByText('Counting is better than parsrec at “Which item exactly is next?”', { exact: true }).waitFor();
  const rows = page.getByRole('region', { name: 'Beside counting' }).locator('tbody tr');
  assert.deepEqual(await rows.locator('td.words').allTextContents(), ['parsrec is better than counting (personal)',
    'counting (personal) is better than parsrec', 'level with counting (personal): the difference may be chance']);
  assert.equal(await rows.nth(1).getAttribute('class'), 'behind');
  await page.getByText('What the measures mean').click();
  await page.getByText('The share of purchases that were among the first 10 of the list').first().waitFor();
  await picture(page, 'verdict');
  // On a phone verdicts are in sight; only numbers scroll.
  await page.setViewportSize({ width: 390, height: 844 });
  for (const cell of await rows.locator('td.words').all()) {
    const { x, width } = await cell.boundingBox();
    assert.ok(x + width <= 390, `a verdict ends at ${x + width}`);
  }
  await clean();
});
