// Takes the place of ../src/api.js where there is no server: the same questions, answered by the library in
// this page. What needs a server (maps, what-if, quality) is not asked.
let library = null;

/** The library that answers from now on. */
export function answerBy(made) {
  library = made;
}

const ask = async (...words) => library.ask(...words);

export const api = {
  recommend: (request) => ask('browser_recommend', JSON.stringify(request)),
  buy: (event) => ask('browser_buy', JSON.stringify(event)),
  items: (q, limit) => ask('browser_items', q, limit),
  users: (q, limit) => ask('browser_users', q, limit),
  user: (key) => ask('browser_user', key),
  categories: () => ask('browser_categories'),
};
