// Of several questions to the server only the newest matters.
import { released } from './press.js';

/**
 * latest(ask, show): a function that asks with its arguments, cancels what it asked before, and
 * shows { answer } or { error } of the newest question alone, when nothing is pressed. Its `cancel()`
 * gives up the question; true if there was one.
 */
export function latest(ask, show) {
  let controller = null;
  async function run(...words) {
    controller?.abort();
    const mine = new AbortController();
    controller = mine;
    let outcome;
    try {
      outcome = { answer: await ask(...words, mine.signal) };
    } catch (error) {
      outcome = { error };
    }
    await released();
    if (controller !== mine) return;
    controller = null;
    if (outcome.error?.name !== 'AbortError') show(outcome, ...words);
  }
  run.cancel = () => {
    const running = controller !== null;
    controller?.abort();
    controller = null;
    return running;
  };
  return run;
}

/** Calls `act` once, `wait` milliseconds after the last of a row of calls, unless `cancel()` comes before. */
export function settled(act, wait) {
  let timer = 0;
  const soon = (...words) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...words), wait);
  };
  soon.cancel = () => clearTimeout(timer);
  return soon;
}
