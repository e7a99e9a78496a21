// Writes the files of a built page as one C file, the table that src/serve/web_files.h declares.
//   node embed.mjs DIST FILE.c
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const [dist, output] = process.argv.slice(2);
if (!output) {
  console.error('usage: node embed.mjs DIST FILE.c');
  process.exit(2);
}

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** Bytes as C numbers, lines of at most 100 columns. */
function numbers(bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 24) lines.push('    ' + bytes.subarray(i, i + 24).join(','));
  return lines.join(',\n');
}

const names = (await readdir(dist)).sort();
const arrays = [];
const rows = [];
for (const [i, name] of names.entries()) {
  const type = types[extname(name)];
  if (!type) throw new Error(`${name}: no content type for this ending; add it to embed.mjs`);
  const bytes = await readFile(join(dist, name));
  const tag = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  arrays.push(`static const unsigned char file_${i}[] = {\n${numbers(bytes)}};\n`);
  rows.push(`    {.path = "/${name}", .type = "${type}", .etag = "${tag}", .bytes = file_${i}, .size = sizeof file_${i}},\n`);
}
await writeFile(output, `/* The page, made from web/ by the build; do not edit. */
#include "serve/web_files.h"

${arrays.join('\n')}
const web_file web_files[] = {
${rows.join('')}    {0},
};
`);
