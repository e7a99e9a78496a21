// Elements without a framework: `h` makes one, `fill` puts others into it.

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
  else if (name === 'hidden' || name === 'disabled' || name === 'checked' || name === 'value')
    element[name] = value;
  else element.setAttribute(name, value === true ? '' : value);
}

/** h('button', { class: 'add', onclick: f }, 'Add'): children are nodes, texts, lists or null. */
export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) set(element, name, value);
  return fill(element, ...children);
}

/** Puts the children in the place of whatever the element holds. */
export function fill(element, ...children) {
  const wanted = children.flat(Infinity).filter((child) => child !== null && child !== undefined);
  element.replaceChildren(...wanted.filter((child) => child !== false));
  return element;
}

/** As fill, but who stood on a button with the keys stands on the one that is there now. */
export function refill(element, ...children) {
  const buttons = () => [...element.querySelectorAll('button')];
  const at = buttons().indexOf(document.activeElement);
  fill(element, ...children);
  if (at < 0) return;
  const left = buttons();
  if (left.length === 0) element.tabIndex = -1;
  (left[Math.min(at, left.length - 1)] ?? element).focus();
}

let made = 0;
/** An id that nothing else on the page has. */
export function uniqueId(word) {
  made += 1;
  return `${word}-${made}`;
}
