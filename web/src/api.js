// The server's HTTP interface (docs/serve.md), one function a question.
import { ApiError } from './api_error.js';
import { askForToken, token } from './token.js';

/** keepalive: a cancellation is sent even when the page closes. */
async function send(method, path, body, signal) {
  const headers = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (token()) headers.authorization = `Bearer ${token()}`;
  try {
    return await fetch(path, {
      method, headers, signal, body: body && JSON.stringify(body), keepalive: method === 'DELETE',
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'unreachable', 'The server does not answer. Is parsrec serve still running?');
  }
}

async function call(method, path, body, signal) {
  const sent = token();
  const response = await send(method, path, body, signal);
  // A token that was given while this question was under way is tried before anybody is asked again.
  if (response.status === 401 && (token() !== sent || (await askForToken()))) return call(method, path, body, signal);
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  const { code = 'unknown', message = `The server answered with status ${response.status}.` } =
    answer?.error ?? {};
  throw new ApiError(response.status, code, message);
}

function query(path, words) {
  const list = new URLSearchParams();
  for (const [name, value] of Object.entries(words))
    for (const one of [value].flat()) if (one !== undefined && one !== null) list.append(name, one);
  return `${path}?${list}`;
}

export const api = {
  recommend: (request, signal) => call('POST', '/v1/recommend', request, signal),
  buy: (event) => call('POST', '/v1/events', event),
  items: (q, limit, signal) => call('GET', query('/v1/items', { q, limit }), undefined, signal),
  categories: () => call('GET', '/v1/categories'),
  users: (q, limit, signal) => call('GET', query('/v1/users', { q, limit }), undefined, signal),
  user: (key, signal) => call('GET', `/v1/users/${encodeURIComponent(key)}`, undefined, signal),
  groups: (signal) => call('GET', '/v1/groups', undefined, signal),
  startJob: (kind, request) => call('POST', '/v1/jobs', { kind, request }),
  job: (id, signal) => call('GET', `/v1/jobs/${id}`, undefined, signal),
  cancelJob: (id) => call('DELETE', `/v1/jobs/${id}`),
  model: (signal) => call('GET', '/v1/model', undefined, signal),
  quality: (signal) => call('GET', '/v1/quality', undefined, signal),
};
