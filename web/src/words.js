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

export const nameOf = (item) => item.name ?? item.item;

/** "FOOD > BAKERY" -> "BAKERY": the last part says enough beside an item. */
export const leaf = (category) => category?.split(' > ').at(-1) ?? '';
