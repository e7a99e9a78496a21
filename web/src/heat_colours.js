// Numbers to colours of a heatmap, the same as in pictures of the program (src/report/heatmap.c):
// blue below zero, orange to brown above, nearly white at zero, grey where nothing is known.

export const above = ['#F7F7F5', '#FBD3A6', '#F0984A', '#C05A10', '#6E2C00'];
export const below = ['#F7F7F5', '#B5D5EC', '#6AA5D4', '#2A6CAD', '#0B3467'];
export const unknown = 'var(--unknown)'; // the only one that differs on dark paper

const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

export function heatColour(number, limit) {
  if (number === null) return unknown;
  const stops = number < 0 ? below : above;
  const at = Math.min(Math.abs(number) / limit, 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  const [from, to] = [parts(stops[i]), parts(stops[i + 1])];
  const mixed = from.map((part, k) => Math.round(part + (to[k] - part) * (at - i)));
  return `rgb(${mixed.join(',')})`;
}

/**
 * The number with the strongest colour: the largest but for the utmost two of a hundred, and never below
 * `least`, so that next to nothing does not look like much.
 */
export function heatLimit(numbers, least) {
  const sizes = numbers.filter((n) => n !== null).map(Math.abs).sort((a, b) => a - b);
  return Math.max(sizes[Math.floor((sizes.length - 1) * 0.98)] ?? 0, least);
}
