// Chromium without a window, and pages that keep account of everything that goes wrong in them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

function found(name) {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

/** The browser's path: PARSREC_CHROMIUM, or the first that is installed; null without one. */
export const browserPath = process.env.PARSREC_CHROMIUM ?? names.map(found).find(Boolean) ?? null;

/** As root, in a container, Chromium has no sandbox of its own. */
export function launch() {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: browserPath, args });
}

/** A page, and `clean()`, which fails if it complained, asked another host or had an answer of 400 and more. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.PARSREC_PATIENCE ?? 300) * 1000); // sanitizers and busy machines are slow
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) complaints.push(`another host: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
  });
  await page.goto(url);
  const clean = async () => {
    assert.deepEqual(complaints, []);
    await context.close();
  };
  return { page, clean, complaints };
}

/** A picture into the folder PARSREC_PICTURES, if there is one. */
export async function picture(page, name, options) {
  const folder = process.env.PARSREC_PICTURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled', ...options });
}

/** Resolves to the result of the next job that is done and whose result fits. */
export async function jobResult(page, fits = () => true) {
  let result;
  await page.waitForResponse(async (response) => {
    if (!response.url().includes('/v1/jobs') || response.request().method() === 'DELETE') return false;
    const job = await response.json().catch(() => ({}));
    if (job.status !== 'done' || !fits(job.result)) return false;
    ({ result } = job);
    return true;
  });
  return result;
}

/** Nothing sticks out to the right. */
export async function fits(page, what) {
  const [inside, outside] = await page.evaluate(() => [document.documentElement.clientWidth, document.documentElement.scrollWidth]);
  assert.ok(outside <= inside, `${what}: ${outside} pixels in a window of ${inside}`);
}
