// Makes the page that needs no server, as one HTML file with the library in WebAssembly and a model inside:
//   node build_alone.mjs LIBRARY.wasm MODEL PAGE.html
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [library, model, output] = process.argv.slice(2);
if (!output) {
  console.error('usage: node build_alone.mjs LIBRARY.wasm MODEL PAGE.html');
  process.exit(2);
}

/** Modules of the page that ask the server ask alone/api.js instead. */
const withoutServer = {
  name: 'without-server',
  setup(build) {
    build.onResolve({ filter: /\/api\.js$/ }, () => ({ path: join(here, 'alone/api.js') }));
  },
};

const { outputFiles } = await esbuild.build({
  absWorkingDir: here,
  entryPoints: [{ in: 'alone/main.js', out: 'page' }, { in: 'alone/alone.css', out: 'page' }],
  outdir: 'nowhere',
  bundle: true,
  write: false,
  format: 'esm',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  target: ['chrome109', 'firefox115', 'safari16.4'],
  plugins: [withoutServer],
  logLevel: 'warning',
});
const made = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text.trim();
const packed = async (id, path) => {
  const bytes = gzipSync(await readFile(path), { level: 9 });
  bytes[9] = 255; // the system on which it was packed is not told, so that the page is the same everywhere
  return `<script type="application/gzip;base64" id="${id}">${bytes.toString('base64')}</script>`;
};

let page = await readFile(join(here, 'index.html'), 'utf8');
function replace(pattern, text) {
  if (!pattern.test(page)) throw new Error(`index.html has nothing like ${pattern}`);
  page = page.replace(pattern, () => text);
}
const icon = Buffer.from(await readFile(join(here, 'favicon.svg'))).toString('base64');
replace(/href="\/favicon.svg"/, `href="data:image/svg+xml;base64,${icon}"`);
replace(/<link rel="stylesheet"[^>]*>/, `<style>${made('.css')}</style>`);
replace(/<script type="module"[^>]*><\/script>\n/, '');
replace(/<nav[^>]*>.*?<\/nav>/s, '<nav aria-label="Model"></nav>');
replace(/<noscript>.*?<\/noscript>/s, '<noscript><p class="notice">This page needs JavaScript.</p></noscript>');
replace(/<\/body>/, [
  await packed('library', library),
  await packed('model', model),
  `<script type="text/plain" id="licences">\n${await readFile(join(here, 'alone/licences.txt'), 'utf8')}</script>`,
  `<script type="module">${made('.js')}</script>`,
  '</body>'].join('\n'));
await writeFile(output, page);
