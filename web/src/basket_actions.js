// What can be done to the open basket.

export function add(store, key) {
  const { basket } = store.get();
  if (!basket.includes(key)) store.set({ basket: [...basket, key] });
}

export function remove(store, key) {
  store.set({ basket: store.get().basket.filter((other) => other !== key) });
}

export function toggle(store, key) {
  if (store.get().basket.includes(key)) remove(store, key);
  else add(store, key);
}
