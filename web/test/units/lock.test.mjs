// What the page is made of is pinned, and fetched from wherever npm is told to.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const read = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

test('the lock file names no host, and has a checksum for every package', () => {
  const text = read('package-lock.json');
  assert.doesNotMatch(text, /https?:/);
  for (const [name, { integrity }] of Object.entries(JSON.parse(text).packages))
    if (name !== '') assert.match(integrity, /^sha512-/, name);
});

test('packages that are asked for by name are asked for in one version', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
});
