// Makes the page: bundles src/ and style/ into a folder, with the licences of what is inside.
//   node build.mjs DIST
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';
import { licences } from './licences.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const dist = resolve(process.argv[2] ?? 'dist');

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
const result = await esbuild.build({
  absWorkingDir: here,
  entryPoints: [
    { in: 'src/main.js', out: 'page' },
    { in: 'style/page.css', out: 'page' },
  ],
  outdir: dist,
  bundle: true,
  format: 'esm',
  splitting: true, // charts come only when a chart is looked at
  chunkNames: 'part-[hash]',
  minify: true,
  legalComments: 'none',
  metafile: true,
  target: ['chrome109', 'firefox115', 'safari16.4'],
  logLevel: 'warning',
});
for (const name of ['index.html', 'favicon.svg']) await copyFile(join(here, name), join(dist, name));
await writeFile(join(dist, 'licences.txt'), await licences(here, Object.keys(result.metafile.inputs)));
