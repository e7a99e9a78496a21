// A list is one Tab stop: the arrow keys, Home and End walk inside it.

const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

function target(key, at, count) {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return key in steps ? Math.min(Math.max(at + steps[key], 0), count - 1) : -1;
}

/** Makes the buttons of `list` one Tab stop, those that come later too. Returns the list. */
export function roving(list) {
  let current = null;
  const buttons = () => [...list.querySelectorAll('button')];

  function settle() {
    const all = buttons();
    if (!all.includes(current)) current = all[0] ?? null;
    for (const button of all) button.tabIndex = button === current ? 0 : -1;
  }
  list.addEventListener('focusin', ({ target: button }) => {
    if (button.tagName !== 'BUTTON') return;
    current = button;
    settle();
  });
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const all = buttons();
    const next = all[target(event.key, all.indexOf(document.activeElement), all.length)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  new MutationObserver(settle).observe(list, { childList: true, subtree: true });
  list.setAttribute('aria-description', 'Arrow keys move within the list.');
  settle();
  return list;
}
