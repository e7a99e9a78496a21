// What the visitor has chosen: a plain object, and who wants to know when it changes.

export function createStore(initial) {
  let state = { ...initial };
  const listeners = new Set();

  /** Changes what `patch` names; listeners of these keys hear of it once. */
  function set(patch) {
    const before = state;
    state = { ...state, ...patch };
    const changed = Object.keys(patch).filter((key) => before[key] !== state[key]);
    if (changed.length === 0) return;
    for (const { keys, tell } of [...listeners])
      if (keys.some((key) => changed.includes(key))) tell(state);
  }

  /** Calls `tell` now, and again whenever one of `keys` changes. */
  function watch(keys, tell) {
    listeners.add({ keys, tell });
    tell(state);
  }

  return { get: () => state, set, watch };
}
