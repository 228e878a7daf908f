// Mistral's batches: a file with the lines, then a job of it. Its lines are like OpenAI's.
// https://docs.mistral.ai/api/endpoint/batch, and npm `@mistralai/mistralai` 2.7 (read 2026-11-29)
import { unreadable } from '../../canonical/upstream-broken.ts';
import { isObject, type JsonObject, listOf } from '../../lib/json.ts';
import type { BatchHost, HostCalls, RemoteBatch, ToFind } from './host.ts';
import { fileFrame, filePath, pathsOf, readLine, uploadFile } from './openai.ts';
import { endedAs, failedBy, pagesMax, readId, readList, stateOf } from './shared.ts';

const path = '/batch/jobs';
const pageLines = 100;
const words = {
  running: 'QUEUED RUNNING CANCELLATION_REQUESTED',
  completed: 'SUCCESS',
  canceled: 'CANCELLED',
  expired: 'TIMEOUT_EXCEEDED',
  failed: 'FAILED',
} as const;

export const mistralBatches: BatchHost = {
  paths: /^\/(?:chat\/completions|embeddings)$/,
  frame: fileFrame,
  // The job names the model.
  writeLine: (customId, _path, { model: _model, ...body }) => ({ custom_id: customId, body }),
  upload: (calls, sent) => uploadFile(calls, sent, null),
  filePath,
  async create(calls, { mark, path: endpoint, model }, fileId) {
    const { id } = await calls.call('POST', path, {
      input_files: [fileId],
      endpoint: `/v1${endpoint}`,
      model,
      metadata: { tollgate: mark },
      timeout_hours: 24,
    });
    return readId(id);
  },
  find,
  look: async (calls, id) => readJob(await calls.call('GET', `${path}/${id}`)),
  cancelPath: (id) => `${path}/${id}/cancel`,
  readLine,
};

async function find(calls: HostCalls, { mark, sinceMs }: ToFind) {
  for (let page = 0; page < pagesMax; page += 1) {
    const query = `page=${page}&page_size=${pageLines}&order_by=-created`;
    const { data, total } = await calls.call('GET', `${path}?${query}`);
    // A list without jobs has no `data`, and neither has an error.
    if (typeof total !== 'number') throw unreadable('the answer is no list');
    const jobs = readList(data ?? []);
    // An earlier try may have failed.
    for (const { id, metadata, status } of jobs)
      if (isObject(metadata) && metadata['tollgate'] === mark && status !== 'FAILED')
        return { id: readId(id) };
    // A page may be shorter than was asked for, and only an empty one is surely beyond the last.
    const last = jobs.at(-1);
    if (!last || Number(last['created_at']) * 1_000 < sinceMs) return null;
  }
  return 'unsure' as const;
}

function readJob(job: JsonObject): RemoteBatch {
  const own = [`${path}/${readId(job['id'])}`];
  const { results, files } = pathsOf([job['output_file'], job['error_file']]);
  const paths = { results, files: [...files, ...own] };
  const state = stateOf(words, job['status']);
  if (state === 'running') return { state };
  if (state !== 'failed') return endedAs(state, paths);
  if (results.length > 0) return endedAs('completed', paths);
  return failedBy(listOf(job['errors'])[0], { files: own });
}
