// Of several questions to the server only the newest matters.

/**
 * latest(ask, show): a function that asks with its arguments, cancels what it asked before, and
 * shows { answer } or { error } of the newest question alone.
 */
export function latest(ask, show) {
  let controller = null;
  return async (...words) => {
    controller?.abort();
    const mine = new AbortController();
    controller = mine;
    let outcome;
    try {
      outcome = { answer: await ask(...words, mine.signal) };
    } catch (error) {
      outcome = { error };
    }
    if (controller === mine && outcome.error?.name !== 'AbortError') show(outcome, ...words);
  };
}

/** Calls `act` once, `wait` milliseconds after the last of a row of calls. */
export function settled(act, wait) {
  let timer = 0;
  return (...words) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...words), wait);
  };
}
