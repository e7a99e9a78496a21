// Elements without a framework: `h` makes one, `fill` replaces what another holds, `update` changes
// it in place.

const handlers = new WeakMap(); // element -> { click: function, ... }; `update` hands them over

function listen(element, type, handler) {
  const own = handlers.get(element) ?? {};
  handlers.set(element, own);
  if (!(type in own)) element.addEventListener(type, (event) => own[type]?.(event));
  own[type] = handler;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith('on')) listen(element, name.slice(2), value);
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

const nodesOf = (children) => children.flat(Infinity)
  .filter((child) => child !== null && child !== undefined && child !== false)
  .map((child) => (child instanceof Node ? child : document.createTextNode(child)));

/** Replaces what the element holds by the children. */
export function fill(element, ...children) {
  element.replaceChildren(...nodesOf(children));
  return element;
}

// ---- in place ----

const keyOf = (node) => node.dataset?.key ?? node.dataset?.item;

/** A child with data-key or data-item is the same child as long as that stays; others match by order and tag. */
function matcher(element) {
  const keyed = new Map();
  const plain = [];
  for (const child of element.childNodes) {
    if (keyOf(child) !== undefined) keyed.set(keyOf(child), child);
    else plain.push(child);
  }
  return (fresh) => {
    const key = keyOf(fresh);
    const at = key === undefined ? plain.findIndex((old) => old.nodeName === fresh.nodeName) : -1;
    const old = key === undefined ? plain.splice(at, at < 0 ? 0 : 1)[0] : keyed.get(key);
    if (key !== undefined) keyed.delete(key);
    return old && old.nodeName === fresh.nodeName ? old : null;
  };
}

/** Makes the old node look and act as the fresh one. */
function become(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return old;
  }
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && name !== 'tabindex' && name !== 'style') old.removeAttribute(name); // tabindex: roving.js
  for (const { name, value } of fresh.attributes)
    if (name !== 'style' && old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText; // the policy forbids the attribute
  for (const type of Object.keys(handlers.get(old) ?? {})) listen(old, type, null);
  for (const [type, handler] of Object.entries(handlers.get(fresh) ?? {})) listen(old, type, handler);
  arrange(old, [...fresh.childNodes]);
  return old;
}

/** Puts `wanted` into the element in this order without moving `fixed`, which would lose the focus by it. */
function place(element, wanted, fixed) {
  for (const child of [...element.childNodes]) if (!wanted.includes(child)) child.remove();
  let at = element.firstChild;
  for (const child of wanted) {
    while (child === fixed && at !== fixed) {
      const next = at.nextSibling;
      element.append(at);
      at = next;
    }
    if (child === at) at = at.nextSibling;
    else element.insertBefore(child, at);
  }
}

function arrange(element, children) {
  const match = matcher(element);
  const wanted = children.map((fresh) => {
    const old = match(fresh);
    return old ? become(old, fresh) : fresh;
  });
  const focused = document.activeElement;
  place(element, wanted, wanted.find((child) => child.contains(focused)));
}

/**
 * As fill, but elements that stay are kept: a list item with the same key remains the same
 * element with new contents, so that focus, scroll position and hover survive. If the button with the
 * focus is gone, the focus goes to the next one.
 */
export function update(element, ...children) {
  const buttons = () => [...element.querySelectorAll('button')];
  const at = buttons().indexOf(document.activeElement);
  arrange(element, nodesOf(children));
  if (at < 0 || element.contains(document.activeElement)) return element;
  const left = buttons();
  if (left.length === 0) element.tabIndex = -1;
  (left[Math.min(at, left.length - 1)] ?? element).focus();
  return element;
}

let made = 0;
/** An id that nothing else on the page has. */
export function uniqueId(word) {
  made += 1;
  return `${word}-${made}`;
}
