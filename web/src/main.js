// Starts the page: one store, four views, each made when it is first looked at.
import { follow, read, views, write } from './address.js';
import { api } from './api.js';
import { fill, h } from './dom.js';
import { failed, waiting } from './notice.js';
import { released } from './press.js';
import { createStore } from './store.js';
import { basketView } from './view_basket.js';
import { plural } from './words.js';

const makers = {
  basket: async () => basketView,
  maps: async () => (await import('./view_maps.js')).mapsView,
  whatif: async () => (await import('./view_whatif.js')).whatifView,
  quality: async () => (await import('./view_quality.js')).qualityView,
};
const titles = { basket: 'Basket', maps: 'Maps', whatif: 'What if', quality: 'Quality' };

const store = createStore({
  ...read(location.hash), bought: 0, wanted: 6, mostOfCategory: 0,
});
const main = document.querySelector('#main');
const places = new Map(); // view -> its element, once made

async function build(view, place) {
  fill(place, waiting('One moment …'));
  try {
    const viewOf = await makers[view]();
    const made = await viewOf(store);
    await released();
    fill(place, made);
  } catch (error) {
    fill(place, failed(error, () => build(view, place)));
  }
}

function make(view) {
  const place = h('div', { class: `view view-${view}` });
  places.set(view, place);
  main.append(place);
  build(view, place);
}

function show({ view, user, basket }) {
  document.title = `${titles[view]} · parsrec`;
  for (const link of document.querySelectorAll('nav [data-view]')) {
    link.href = write({ view: link.dataset.view, user, basket });
    if (link.dataset.view === view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (!places.has(view)) make(view);
  for (const name of views) if (places.has(name)) places.get(name).hidden = name !== view;
}

document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
follow(store);
store.watch(['view', 'user', 'basket'], show);
api.model().then(
  async (facts) => {
    await released();
    fill(document.querySelector('#facts'), `${plural(facts.items, 'item')} · ${plural(facts.users, 'customer')}`);
  },
  () => {}, // the views say what is wrong
);
