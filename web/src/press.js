// Between press and release of the mouse nothing on the page moves: a list that is drawn again in
// that moment would put something else under the pointer, and the browser would drop the click.

const clickWait = 300; // milliseconds; the click of a touch comes a little after the finger left
const pressable = 'button, a, label, summary, [role=option]';

let held = null; // a promise and its resolver, while something is pressed
let timer = 0;

function releaseIn(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    held?.resolve();
    held = null;
  }, milliseconds);
}

function press({ button, target }) {
  if (button !== 0 || !target.closest?.(pressable)) return;
  clearTimeout(timer);
  if (held) return;
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  held = { promise, resolve };
}

/** Resolves when nothing is pressed; a click that was due has been handled by then. */
export async function released() {
  while (held) await held.promise;
}

if (typeof document !== 'undefined') {
  addEventListener('pointerdown', press, true);
  addEventListener('pointerup', () => releaseIn(clickWait), true);
  addEventListener('click', () => releaseIn(0), true);
  for (const lost of ['pointercancel', 'contextmenu']) addEventListener(lost, () => releaseIn(0), true);
  addEventListener('blur', ({ target }) => target === window && releaseIn(0));
}
