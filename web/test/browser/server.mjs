// A real server on a model trained for the test, in a folder of its own.
//   PARSREC: the program; without it that of the release build.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const source = fileURLToPath(new URL('../../..', import.meta.url));
export const program = process.env.PARSREC ?? join(source, 'build/release/src/parsrec');
const execute = promisify(execFile);

/** The program with these words. */
export const run = (words) => execute(program, words);

export const examples = join(source, 'examples');

export async function train(folder, data, ...settings) {
  const model = join(folder, 'model.st');
  await run(['train', '-o', model, data, ...settings]);
  return model;
}

/** The corner shop of examples/: 60 customers, 47 items with names and categories. */
export async function cornerShop(folder) {
  const data = join(folder, 'shop.st');
  const items = join(examples, 'corner_shop_items.csv');
  await run(['import', '-o', data, join(examples, 'corner_shop.csv'), '--items', items]);
  const small = ['--set', 'dim.user=32', '--set', 'dim.item=32', '--set', 'batch=32'];
  return [await train(folder, data, ...small, '--epochs', '12')];
}

/** The corner shop with two more items that bear one name. */
export async function twins(folder) {
  const [actions, items] = [join(folder, 'actions.csv'), join(folder, 'items.csv')];
  const more = ['9001', '9002'].map((key, i) => `K0${i + 1},7900${i},2024-04-0${i + 1},${key}\n`);
  await writeFile(actions, (await readFile(join(examples, 'corner_shop.csv'), 'utf8')) + more.join(''));
  await writeFile(items, `${await readFile(join(examples, 'corner_shop_items.csv'), 'utf8')}9001,Bread,FOOD > BAKERY\n9002,Bread,FOOD > BAKERY\n`);
  const data = join(folder, 'shop.st');
  await run(['import', '-o', data, actions, '--items', items]);
  const small = ['--set', 'dim.user=32', '--set', 'dim.item=32', '--set', 'batch=32'];
  return [await train(folder, data, ...small, '--epochs', '2')];
}

export const hostile = {
  names: ['<script>window.harm=1</script>', '<img src=x onerror="window.harm=1">', '"quoted" \'single\' &amp;',
    '=SUM(A1)', 'bell\u0007 \u001b[31m', '\u202egnp.exe', 'שלום 12', 'مرحبا', 'a\u2069\u202eb', '</title></svg>x'],
  categories: ['<b>BOLD</b>', 'דברים', '=CATEGORY'],
  user: '<i onclick="window.harm=1">u</i>',
};

/** A shop whose names mean harm. */
export async function hostileShop(folder) {
  const [actions, items, data] = ['actions.csv', 'items.csv', 'shop.st'].map((name) => join(folder, name));
  const cell = (text) => `"${text.replaceAll('"', '""')}"`;
  const table = (rows) => rows.map((row) => `${row.map(cell).join(',')}\n`).join('');
  const { names, categories } = hostile;
  await writeFile(items, table([['item', 'name', 'category'],
    ...names.map((name, i) => [`<u>${i}</u>`, name, categories[i % categories.length]])]));
  const rows = [['user', 'session', 'time', 'item']];
  for (let u = 0; u < 12; u += 1)
    for (let s = 0; s < 6; s += 1)
      for (let k = 0; k < 3; k += 1)
        rows.push([u === 0 ? hostile.user : `u${u}`, `${u}.${s}`, String(1_600_000_000 + 86_400 * s + u),
          `<u>${(u + s * 3 + k * (1 + u % 3)) % names.length}</u>`]);
  await writeFile(actions, table(rows));
  await run(['import', '-o', data, actions, '--items', items]);
  return [await train(folder, data, '--set', 'dim.user=8', '--set', 'dim.item=8', '--epochs', '2')];
}

/** The same without names and categories, and a model that only counts. */
export async function plainShop(folder) {
  const data = join(folder, 'plain.st');
  await run(['import', '-o', data, join(examples, 'corner_shop.csv')]);
  return [await train(folder, data, '--model', 'personal')];
}

/** Synthetic baskets of two kinds of customers; the truth stays with the data. */
export async function twoGroups(folder) {
  const data = join(folder, 'synthetic.st');
  await run(['synth', '-o', data, '--users', '96', '--sessions', '20', '--products', '10', '--seed', '3']);
  const small = ['--set', 'dim.user=16', '--set', 'dim.item=16'];
  return [await train(folder, data, ...small, '--epochs', '2'), data];
}

/** Starts the program; resolves to its process and its address. A busy machine may take its time for an answer. */
async function start(files, options) {
  const listen = options.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
  const words = ['serve', '--work-time', '30m', ...files, ...listen, ...options];
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  child.stderr.on('data', (text) => said.push(text));
  const ended = once(child, 'exit');
  const line = once(createInterface({ input: child.stdout }), 'line');
  const first = await Promise.race([line, ended.then(() => null)]);
  if (first === null) throw new Error(`parsrec serve ended: ${said.join('')}`);
  return { child, ended, url: first[0].trim() };
}

/** make(folder): resolves to [model] or [model, data]. Returns { url, end, stop }: end stops it, stop cleans up too. */
export async function serve(make, ...options) {
  const folder = await mkdtemp(join(tmpdir(), 'parsrec-web-'));
  const clean = () => rm(folder, { recursive: true, force: true });
  try {
    const { child, ended, url } = await start(await make(folder), options);
    const end = async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    };
    return { url, end, stop: () => end().finally(clean) };
  } catch (error) {
    await clean();
    throw error;
  }
}
