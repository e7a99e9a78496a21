// Numbers of maps: how two differ, what stands out, and labels for their axes.
import { shown } from './words.js';

export function difference(a, b) {
  return a.map((line, row) => line.map((value, column) =>
    value === null || b[row][column] === null ? null : value - b[row][column]));
}

/** The cells off the diagonal that are farthest from zero: [{ row, column, value }] by name. */
export function strongest(names, values, most) {
  const cells = [];
  values.forEach((line, row) => line.forEach((value, column) => {
    if (value !== null && row !== column) cells.push({ row: names[row], column: names[column], value });
  }));
  return cells.sort((x, y) => Math.abs(y.value) - Math.abs(x.value)).slice(0, most);
}

/** As much of a text as fits: its beginning, or of its beginning and end, where what differs often stands. */
function cut(text, fits, middle) {
  if (fits(text)) return text;
  const letters = [...text];
  for (let kept = letters.length - 1; kept > 1; kept -= 1) {
    const head = middle ? Math.ceil(kept / 3) : kept;
    const short = [...letters.slice(0, head), '…', ...letters.slice(letters.length - kept + head)].join('');
    if (fits(short)) return short;
  }
  return `${letters[0]}…`;
}

/** Texts cut to what fits(text); those that would look the same keep their ends. */
export function cutLabels(texts, fits) {
  const short = texts.map((text) => cut(text, fits, false));
  return texts.map((text, i) => (short.indexOf(short[i]) === short.lastIndexOf(short[i]) ? short[i] : cut(text, fits, true)));
}

/** Short labels: the last part of a category's path where no other name ends like it. */
export function shortLabels(names) {
  const ends = names.map((name) => name.split(' > ').at(-1));
  return names.map((name, i) => (ends.filter((end) => end === ends[i]).length === 1 ? ends[i] : name));
}
