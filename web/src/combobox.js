// A text field with suggestions from the server, for mouse, touch and keyboard (the ARIA pattern
// "combobox with list").
import { h, uniqueId, update } from './dom.js';
import { latest, settled } from './latest.js';
import { prose } from './words.js';

/**
 * label, placeholder: texts. ask(text, signal): resolves to the options, each { key, label, note }.
 * pick(option): called with the chosen one. Returns the element; `clear()` empties the field.
 */
export function combobox({ label, placeholder, ask, pick }) {
  const id = uniqueId('combobox');
  const list = h('ul', { id: `${id}-list`, role: 'listbox', class: 'options', 'aria-label': label, hidden: true });
  const input = h('input', {
    id, type: 'text', role: 'combobox', placeholder, autocomplete: 'off', spellcheck: 'false',
    'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': list.id,
  });
  const element = h('div', { class: 'combobox' }, h('label', { for: id }, label), input, list);
  let options = [];
  let active = -1;

  /** A question under way is given up: its answer would open the list again, over what is below it. */
  function close() {
    searchSoon.cancel();
    search.cancel();
    list.hidden = true;
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }

  function choose(option) {
    close();
    input.value = '';
    pick(option);
  }

  function mark(index) {
    active = index;
    [...list.children].forEach((row, i) => row.setAttribute('aria-selected', String(i === active)));
    const row = list.children[active];
    if (!row) return input.removeAttribute('aria-activedescendant');
    input.setAttribute('aria-activedescendant', row.id);
    row.scrollIntoView({ block: 'nearest' });
  }

  function row(option, i) {
    // mousedown, not click: the field must not lose the focus before the choice is made.
    const down = (event) => event.preventDefault();
    return h('li', {
      id: `${id}-${i}`, 'data-key': option.key, role: 'option', 'aria-selected': 'false', onmousedown: down, onclick: () => choose(option),
    }, h('span', null, option.label), option.note && h('small', null, option.note));
  }

  function open(rows) {
    update(list, rows);
    list.hidden = false;
    active = -1;
    input.setAttribute('aria-expanded', 'true');
  }

  const search = latest(ask, ({ answer, error }) => {
    if (document.activeElement !== input) return;
    options = answer ?? [];
    const text = error ? prose(error.message) : 'Nothing found.';
    open(options.length ? options.map(row) : h('li', { class: 'none', role: 'presentation' }, text));
  });
  const searchSoon = settled(() => search(input.value.trim()), 120);

  const keys = {
    ArrowDown: () => (list.hidden ? search(input.value.trim()) : mark((active + 1) % options.length)),
    ArrowUp: () => mark((active - 1 + options.length) % options.length),
    Enter: () => options[Math.max(active, 0)] && choose(options[Math.max(active, 0)]),
    Escape: () => {
      input.value = '';
      close();
    },
  };
  input.addEventListener('keydown', (event) => {
    const act = keys[event.key];
    if (!act || (list.hidden && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    act();
  });
  input.addEventListener('input', searchSoon);
  input.addEventListener('focus', searchSoon);
  input.addEventListener('click', () => list.hidden && searchSoon());
  input.addEventListener('blur', close);
  return element;
}
