// Starts the page without a server: unpacks the library and a small model from the page itself, and shows the
// first view. A model file of one's own can be opened; nothing leaves the browser.
import { follow, read } from '../src/address.js';
import { answerBy, api } from '../src/api.js';
import { forget } from '../src/catalogue.js';
import { fill, h } from '../src/dom.js';
import { failed, waiting } from '../src/notice.js';
import { createStore } from '../src/store.js';
import { basketView } from '../src/view_basket.js';
import { plural, shown } from '../src/words.js';
import { library } from './model.js';

/** What the build put into the page: gzip as base64. */
async function packed(id) {
  const text = document.getElementById(id).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const main = document.querySelector('#main');
const facts = document.querySelector('#facts');
const place = h('div', { class: 'view view-basket' });
main.append(place);
document.title = 'Basket · parsrec';
const store = createStore({ ...read(location.hash), view: 'basket', bought: 0, wanted: 6, mostOfCategory: 0 });
let made = null;

async function open(bytes, name) {
  const { kind, items, users } = made.open(bytes);
  answerBy(made);
  forget();
  fill(facts, `${shown(name)}: ${kind}, ${plural(items, 'item')} · ${plural(users, 'customer')}`);
  fill(place, basketView(store));
}

/** A file of the visitor's own. The customer and the basket were those of another shop. */
async function openFile(file) {
  fill(place, waiting(`Opening ${shown(file.name)} …`));
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    store.set({ user: null, basket: [], bought: store.get().bought + 1 });
    await open(bytes, file.name);
  } catch (error) {
    fill(facts);
    fill(place, failed(error, null, [['Back to the example', begin]]));
  }
}

async function begin() {
  fill(place, waiting('One moment …'));
  try {
    made ??= await library(await packed('library'));
    await open(await packed('model'), 'Example shop');
  } catch (error) {
    fill(place, failed(error, begin));
  }
}

const chooser = h('input', {
  type: 'file', id: 'model-file', onchange: () => {
    const [file] = chooser.files;
    chooser.value = ''; // the same file, trained again, can be chosen again
    if (file) openFile(file);
  },
});
fill(document.querySelector('nav'), h('label', { for: 'model-file' }, 'Your own model file'), chooser);
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => {
  event.preventDefault();
  if (event.dataTransfer.files[0]) openFile(event.dataTransfer.files[0]);
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
follow(store);
window.parsrec = api; // for the console, and for tests: await parsrec.recommend({ basket: ['1210'] })
begin();
