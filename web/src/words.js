// Numbers and names as people read them.

const whole = new Intl.NumberFormat('en');
export const count = (n) => whole.format(n);
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** 0.123 -> "+12.3 %"; the sign always stands there. */
export function percent(share, digits = 1) {
  const number = Math.abs(share * 100).toFixed(digits);
  const sign = Number(number) === 0 ? '±' : share < 0 ? '−' : '+';
  return `${sign}${number}\u202f%`;
}

/** A difference of logarithms as a factor: 0.69 -> "2.0". */
export function factor(log) {
  const number = Math.exp(log);
  return number.toFixed(number < 1.995 ? 2 : number < 9.95 ? 1 : 0);
}

export const times = (log) => `×${factor(log)}`;

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Names come from other people's tables. Characters that act instead of being shown are replaced, and text
// from right to left is isolated, or the numbers and signs beside it would change places with it.
const breaks = /[\t\n\r]+/g;
const acting = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const letters = '[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]';
const leftward = new RegExp(letters, 'u');
const leftwardRun = new RegExp(`${letters}(?:[\\x00-@[-\\x60{-~]*${letters})*`, 'gu');
const clean = (text) => String(text).replace(breaks, ' ').replace(acting, '\ufffd');
const isolated = (text) => `\u2068${text}\u2069`;

/** A name as it is shown. */
export function shown(name) {
  const text = clean(name);
  return leftward.test(text) ? isolated(text) : text;
}

/** A sentence of the server with names in it. */
export const prose = (text) => clean(text).replace(leftwardRun, isolated);

/** "FOOD > BAKERY" -> "BAKERY": the last part says enough beside an item. */
export const leaf = (category) => shown(category?.split(' > ').at(-1) ?? '');
