// Long work on a server that is made up here: progress is told, and nothing is left running.
import assert from 'node:assert/strict';
import test from 'node:test';
import { runJob } from '../../src/job.js';

/** Answers the questions about a job one after the other; keeps what was asked. */
function server(...states) {
  const asked = [];
  const next = async (word) => {
    asked.push(word);
    return { job: 'j1', progress: 0, phase: '', ...(states.length > 1 ? states.shift() : states[0]) };
  };
  return {
    asked,
    startJob: (kind, request) => next(`start ${kind} ${JSON.stringify(request)}`),
    job: (id) => next(`ask ${id}`),
    cancelJob: async (id) => asked.push(`cancel ${id}`),
  };
}
const never = new AbortController().signal;

test('a job is asked about until it is done', async () => {
  const api = server({ status: 'queued' }, { status: 'running', progress: 0.5, phase: 'baskets' }, { status: 'done', result: [7] });
  const heard = [];
  const result = await runJob('whatif', { drop: ['item=1'] }, ({ status, progress }) => heard.push([status, progress]), never, api);
  assert.deepEqual(result, [7]);
  assert.deepEqual(heard, [['queued', 0], ['running', 0.5]]);
  assert.deepEqual(api.asked, ['start whatif {"drop":["item=1"]}', 'ask j1', 'ask j1']);
});

test('a result that is kept is there at once', async () => {
  const api = server({ status: 'done', result: 1 });
  assert.equal(await runJob('relations', {}, assert.fail, never, api), 1);
});

test('whoever leaves cancels the job', async () => {
  const api = server({ status: 'running' });
  const controller = new AbortController();
  const heard = [];
  const report = () => {
    heard.push(1);
    if (heard.length === 2) controller.abort();
  };
  await assert.rejects(runJob('whatif', {}, report, controller.signal, api), { name: 'AbortError' });
  assert.equal(api.asked.at(-1), 'cancel j1');
});

test('whoever leaves before the job has a name cancels it all the same', async () => {
  const api = server({ status: 'queued' });
  const controller = new AbortController();
  const running = runJob('whatif', {}, assert.fail, controller.signal, api);
  controller.abort();
  await assert.rejects(running, { name: 'AbortError' });
  assert.equal(api.asked.at(-1), 'cancel j1');
});

test('what went wrong is said', async () => {
  const failure = { status: 'failed', error: { code: 'bad_request', message: 'There is no such item.' } };
  await assert.rejects(runJob('whatif', {}, () => {}, never, server(failure)), { message: 'There is no such item.', code: 'bad_request' });
  await assert.rejects(runJob('whatif', {}, () => {}, never, server({ status: 'cancelled' })), { code: 'cancelled' });
});
