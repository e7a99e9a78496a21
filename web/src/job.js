// Long work on the server: started, asked about until it is done, cancelled when nobody waits for it.
import { api as server } from './api.js';
import { ApiError } from './api_error.js';

const firstWait = 100; // milliseconds between two questions, growing to
const lastWait = 1000;

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', stop, { once: true });
  });
}

const underWay = new Set(); // names of jobs whose answers are waited for
if (typeof addEventListener === 'function')
  addEventListener('pagehide', () => underWay.forEach((id) => server.cancelJob(id).catch(() => {})));

function resultOf({ status, result, error }) {
  if (status === 'done') return result;
  if (status === 'cancelled') throw new ApiError(0, 'cancelled', 'The server stopped this question. Ask again.');
  throw new ApiError(0, error?.code ?? 'failed', error?.message ?? 'The server could not answer.');
}

/**
 * Resolves to the result of a job of the kind "whatif" or "relations"; report(job) hears how far it is.
 * An aborted signal cancels the job.
 */
export async function runJob(kind, request, report, signal, api = server) {
  let job = await api.startJob(kind, request); // not aborted: its name is needed to cancel it
  const { job: id } = job;
  underWay.add(id);
  try {
    for (let wait = firstWait; job.status === 'queued' || job.status === 'running'; wait = Math.min(1.5 * wait, lastWait)) {
      signal.throwIfAborted();
      report(job);
      await pause(wait, signal);
      job = await api.job(id, signal);
    }
    signal.throwIfAborted();
    return resultOf(job);
  } catch (error) {
    if (signal.aborted) api.cancelJob(id).catch(() => {}); // it may have ended by itself
    throw error;
  } finally {
    underWay.delete(id);
  }
}
