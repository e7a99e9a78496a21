// Numbers of maps: how two differ, what stands out, and labels for their axes.
import { shown } from './words.js';

export function difference(a, b) {
  return a.map((line, row) => line.map((value, column) =>
    value === null || b[row][column] === null ? null : value - b[row][column]));
}

/** Whether one of the findings is about the pair of a cell, either way round: a function of two names. */
export function confirmedCells(findings) {
  const key = (a, b) => JSON.stringify([a, b].sort());
  const pairs = new Set(findings.map(({ row, column }) => key(shown(row), shown(column))));
  return (row, column) => pairs.has(key(row, column));
}

/** The cells off the diagonal that are farthest from zero, of those that `keep` takes: [{ row, column, value }] by name. */
export function strongest(names, values, most, keep = () => true) {
  const cells = [];
  values.forEach((line, row) => line.forEach((value, column) => {
    if (value !== null && row !== column && keep(names[row], names[column])) cells.push({ row: names[row], column: names[column], value });
  }));
  return cells.sort((x, y) => Math.abs(y.value) - Math.abs(x.value)).slice(0, most);
}

/** Short labels: the last part of a category's path where no other name ends like it. */
export function shortLabels(names) {
  const ends = names.map((name) => name.split(' > ').at(-1));
  return names.map((name, i) => (ends.filter((end) => end === ends[i]).length === 1 ? ends[i] : name));
}
