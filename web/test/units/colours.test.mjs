// The page's colours are those of the program's pictures, and can be read.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as heat from '../../src/heat_colours.js';

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const css = read('style/colours.css');

/** The custom properties of the light and of the dark page. */
function themes() {
  const properties = (text) =>
    Object.fromEntries([...text.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]));
  const [light, dark] = css.split('@media');
  return { light: properties(light), dark: properties(dark) };
}

function luminance(colour) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((p) => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

test('roles are those of src/report/canvas.c', () => {
  const { light, dark } = themes();
  const roles = [...read('../src/report/canvas.c').matchAll(/\{"(\w+)", 0x(\w{6}), 0x(\w{6})\}/g)];
  assert.ok(roles.length >= 11);
  for (const [, name, forLight, forDark] of roles) {
    assert.equal(light[name], `#${forLight.toLowerCase()}`, `${name}, light`);
    assert.equal(dark[name], `#${forDark.toLowerCase()}`, `${name}, dark`);
  }
});

test('stops of heatmaps are those of src/report/heatmap.c', () => {
  const source = read('../src/report/heatmap.c');
  for (const side of ['above', 'below']) {
    const [, list] = source.match(new RegExp(`${side}\\[STOPS\\] = \\{([^}]*)\\}`));
    assert.deepEqual(heat[side], list.split(', ').map((stop) => stop.replace('0x', '#')));
  }
});

test('orange speaks for, blue against: bars as maps and reports', () => {
  const shop = read('style/shop.css');
  assert.match(shop, /\.fill \{\n  background: var\(--s1\);/);
  assert.match(shop, /\.fill\.against \{\n  background: var\(--s0\);/);
  const strong = (stops) => [1, 5].map((at) => parseInt(stops[3].slice(at, at + 2), 16)); // red and blue
  assert.ok(strong(heat.above)[0] > strong(heat.above)[1]);
  assert.ok(strong(heat.below)[0] < strong(heat.below)[1]);
});

test('text stands out from what is behind it', () => {
  for (const [theme, c] of Object.entries(themes())) {
    for (const text of ['ink', 'quiet', 's0'])
      for (const ground of ['paper', 'ground'])
        assert.ok(contrast(c[text], c[ground]) >= 4.5, `${theme}: ${text} on ${ground}`);
    assert.ok(contrast(c['on-accent'], c.s0) >= 4.5, `${theme}: buttons`);
    assert.ok(contrast(c.s1, c.paper) >= 3, `${theme}: bars against`);
  }
});

test('heat colours', () => {
  assert.equal(heat.heatColour(0, 1), 'rgb(247,247,245)');
  assert.equal(heat.heatColour(2, 1), 'rgb(110,44,0)');
  assert.equal(heat.heatColour(-1, 1), 'rgb(11,52,103)');
  assert.equal(heat.heatColour(null, 1), heat.unknown);
  assert.equal(heat.heatLimit([null, 0, 0], 0.5), 0.5);
  assert.equal(heat.heatLimit([], 0.5), 0.5);
  assert.equal(heat.heatLimit([null, -3, 1], 0.5), 1); // the utmost may go beyond the scale
});
