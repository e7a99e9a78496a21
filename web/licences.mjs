// The licences of the packages whose files went into a bundle.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const packageOf = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//;

async function licence(folder) {
  const facts = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((name) => /^licen[cs]e/i.test(name));
  const text = file ? await readFile(join(folder, file), 'utf8') : '';
  return `${facts.name} ${facts.version} (${facts.license})\n\n${text.trim()}\n`;
}

/** One text for all packages among `inputs`, file names relative to `root`. */
export async function licences(root, inputs) {
  const names = new Set(inputs.map((input) => packageOf.exec(input)?.[1]).filter(Boolean));
  const texts = [];
  for (const name of [...names].sort()) texts.push(await licence(join(root, 'node_modules', name)));
  return `This page holds parts of these packages.\n\n${texts.join('\n----\n\n')}`;
}
