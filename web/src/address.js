// The address bar remembers what is looked at: #basket?user=K02&item=1000&item=1007. A link to an
// open basket can be sent to somebody, and Back works.

export const views = ['basket', 'maps', 'whatif', 'quality'];

/** What an address says; anything that it does not say is as at the beginning. */
export function read(hash) {
  const [name, query = ''] = hash.replace(/^#/, '').split('?', 2);
  const words = new URLSearchParams(query);
  return {
    view: views.includes(name) ? name : 'basket',
    user: words.get('user') || null,
    basket: [...new Set(words.getAll('item').filter(Boolean))],
  };
}

export function write({ view, user, basket }) {
  const words = new URLSearchParams();
  if (user !== null) words.set('user', user);
  for (const item of basket) words.append('item', item);
  const query = words.toString();
  return `#${view}${query ? `?${query}` : ''}`;
}

const sameList = (a, b) => a.length === b.length && a.every((word, i) => word === b[i]);

/** Keeps store and address bar in step. A new view is a step that Back undoes, a new item is not. */
export function follow(store) {
  store.watch(['view', 'user', 'basket'], (state) => {
    const wanted = write(state);
    const now = location.hash || '#basket';
    if (wanted === now) return;
    if (read(now).view === state.view) history.replaceState(null, '', wanted);
    else history.pushState(null, '', wanted);
  });
  addEventListener('popstate', () => {
    const next = read(location.hash);
    const { basket } = store.get();
    store.set(sameList(next.basket, basket) ? { ...next, basket } : next);
  });
}
