// Fields of forms: a choice of few as radio buttons, of many as a list, several as check boxes.
import { h, uniqueId } from './dom.js';

/** options: [value, label, about?]; calls change(value) on a new choice. */
export function radios(legend, options, chosen, change) {
  const name = uniqueId('radio');
  const one = ([value, label, about]) =>
    h('label', null,
      h('input', { type: 'radio', name, value, checked: value === chosen, onchange: () => change(value) }),
      h('span', null, label, about && h('small', null, about)));
  return h('fieldset', { class: 'radios' }, h('legend', null, legend), options.map(one));
}

export function select(label, options, chosen, change) {
  const id = uniqueId('select');
  const field = h('select', { id, onchange: () => change(field.value) },
    options.map(([value, text]) => h('option', { value }, text)));
  field.value = chosen;
  return h('div', { class: 'select' }, h('label', { for: id }, label), field);
}

/** Calls change(values) with all that are ticked. */
export function checks(legend, options, chosen, change) {
  const boxes = options.map(([value, label]) => {
    const box = h('input', { type: 'checkbox', value, checked: chosen.includes(value) });
    box.addEventListener('change', () => change(boxes.map(({ box: b }) => b).filter((b) => b.checked).map((b) => b.value)));
    return { box, label };
  });
  return h('fieldset', { class: 'checks' }, h('legend', null, legend),
    boxes.map(({ box, label }) => h('label', null, box, h('span', null, label))));
}
