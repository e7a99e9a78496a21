// Asks for the server's access token when it wants one. Kept for this tab alone.
import { h } from './dom.js';

const place = 'parsrec-token';
let asking = null;

export function token() {
  return sessionStorage.getItem(place);
}

/** Resolves to true when a token was given, to false when the visitor closed the question. */
export function askForToken() {
  asking ??= ask().finally(() => (asking = null));
  return asking;
}

function ask() {
  const field = h('input', {
    type: 'password', name: 'token', autocomplete: 'off', required: true, 'aria-label': 'Access token',
  });
  const dialog = h('dialog', { class: 'token', 'aria-labelledby': 'token-title' },
    h('form', { method: 'dialog' },
      h('h2', { id: 'token-title' }, 'Access token'),
      h('p', null, 'This server requires its token (parsrec serve --token-file).'),
      field,
      h('div', { class: 'row' },
        h('button', { class: 'main', value: 'give' }, 'Continue'),
        h('button', { type: 'button', onclick: () => dialog.close('') }, 'Not now'))));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const given = dialog.returnValue === 'give' && field.value !== '';
      if (given) sessionStorage.setItem(place, field.value);
      dialog.remove();
      resolve(given);
    });
  });
}
