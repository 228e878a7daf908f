// Vertex AI's batches: a job that reads a file of lines in a bucket and writes others there. Gemini's lines
// have no id of their own, but the request is in the result, and so are its labels. A label is to have at
// most 1,000 values, so the number of a line is in two.
// https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage
// and …/partner-models/claude/batch (read 2026-11-30)
import { isObject, type JsonObject, objectOf, parseJson } from '../../lib/json.ts';
import { locationOf } from '../vertex/paths.ts';
import { addressesOf, type BatchCloud, filesIn, listPath, objectPath, partsOf } from './buckets.ts';
import { statusOf } from './gemini.ts';
import type { BatchHost, HostCalls, RemoteBatch, RemoteLine } from './host.ts';
import { fileFrame } from './openai.ts';
import { endedAs, failedBy, listed, readIdIn, stateOf } from './shared.ts';

const labelValues = 1_000;
const jobList = {
  items: 'batchPredictionJobs',
  next: 'nextPageToken',
  query: 'pageToken',
} as const;
const objectList = { ...jobList, items: 'items' } as const;
const words = {
  running:
    'JOB_STATE_QUEUED JOB_STATE_PENDING JOB_STATE_RUNNING JOB_STATE_PAUSED JOB_STATE_UPDATING JOB_STATE_CANCELLING',
  completed: 'JOB_STATE_SUCCEEDED JOB_STATE_PARTIALLY_SUCCEEDED',
  canceled: 'JOB_STATE_CANCELLED',
  expired: 'JOB_STATE_EXPIRED',
  failed: 'JOB_STATE_FAILED',
} as const;

export function vertexBatches(cloud: BatchCloud): BatchHost {
  const { bucket, place, baseUrl } = cloud;
  const path = `/v1${locationOf(place)}/batchPredictionJobs`;
  // A proxy has all.
  const isGoogle = new URL(baseUrl).hostname.endsWith('.googleapis.com');
  return {
    ...filesIn(cloud),
    addressOf: addressesOf({}, isGoogle ? { origin: 'https://storage.googleapis.com' } : {}),
    // Claude's batches run in a region.
    paths:
      /\/publishers\/google\/models\/gemini-[^/:]+:generateContent$|\/locations\/(?!global\/)[^/]+\/publishers\/anthropic\/models\/[^/:]+:rawPredict$/,
    // A line has no headers.
    takes: ({ headers }) => headers?.['anthropic-beta'] === undefined,
    frame: fileFrame,
    writeLine: (customId, live, { model: _model, ...request }) =>
      publisherOf(live) === 'anthropic'
        ? { custom_id: customId, request }
        : { request: { ...request, labels: labelsOf(customId) } },
    async create(calls, { mark, path: live, model }, fileId) {
      const { name } = await calls.call('POST', path, {
        displayName: mark,
        model: `publishers/${publisherOf(live)}/models/${model}`,
        inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: [fileId] } },
        outputConfig: {
          predictionsFormat: 'jsonl',
          gcsDestination: { outputUriPrefix: `${bucket}/${mark}` },
        },
      });
      return readIdIn(name);
    },
    async find(calls, { mark }) {
      const named = `${path}?filter=${encodeURIComponent(`display_name="${mark}"`)}`;
      // An earlier try may have failed.
      for await (const { name, displayName, state } of listed(calls, named, jobList))
        if (displayName === mark && state !== words.failed) return { id: readIdIn(name) };
      return null;
    },
    async look(calls, id) {
      const own = `${path}/${id}`;
      return readJob(calls, own, await calls.call('GET', own));
    },
    cancelPath: (id) => `${path}/${id}:cancel`,
    readLine,
  };
}

function publisherOf(live: string): 'google' | 'anthropic' {
  return live.includes('/publishers/anthropic/') ? 'anthropic' : 'google';
}

function labelsOf(customId: string): JsonObject {
  const line = Number(customId.slice(customId.lastIndexOf('_') + 1));
  const [high, low] = [Math.floor(line / labelValues), line % labelValues];
  return { tollgate_thousand: String(high), tollgate_line: String(low) };
}

async function readJob(calls: HostCalls, own: string, job: JsonObject): Promise<RemoteBatch> {
  const { error, outputInfo, outputConfig } = job;
  const state = stateOf(words, job['state']);
  if (state === 'running') return { state };
  const { gcsOutputDirectory: folder } = objectOf(outputInfo);
  // A job that was cancelled or has failed need not name the folder in the one that it was given.
  const given = objectOf(objectOf(outputConfig)['gcsDestination'])['outputUriPrefix'];
  const written = await filesOf(calls, folder ?? given);
  const results = written.filter((file) => /(?<!\/lines)\.jsonl$/.test(file));
  const files = [...written, own];
  if (state !== 'failed') return endedAs(state, { results, files });
  return failedBy(error, { mayPass: statusOf(error) === 429, results, files });
}

/** A job of which nothing has run may have no folder. */
async function filesOf(calls: HostCalls, folder: unknown): Promise<string[]> {
  if (typeof folder !== 'string') return [];
  const { root } = partsOf(folder);
  const objects = await Array.fromAsync(listed(calls, listPath(folder), objectList));
  return objects.map(({ name }) => objectPath(root + String(name)));
}

function readLine(line: JsonObject, mark: string): RemoteLine | null {
  const { request, response, status } = line;
  const customId = line['custom_id'] ?? `${mark}_${lineIn(objectOf(request)['labels'])}`;
  if (typeof customId !== 'string') return null;
  const failure = failureIn(status);
  if (failure) return { customId, result: failure };
  return isObject(response) ? { customId, result: { status: 200, body: response } } : null;
}

/** Returns null for labels that are not ours, which no line has. */
function lineIn(labels: unknown): number | null {
  const { tollgate_thousand: high, tollgate_line: low } = objectOf(labels);
  if (!/^\d{1,3} \d{1,3}$/.test(`${String(high)} ${String(low)}`)) return null;
  return Number(high) * labelValues + Number(low);
}

/** `Bad Request: {"error": {"code": 400, "message": "…"}}`, a google.rpc.Status, or ''. */
function failureIn(status: unknown) {
  if (isObject(status))
    return status['code'] ? { status: statusOf(status), body: { error: status } } : null;
  if (typeof status !== 'string' || status === '') return null;
  const parsed = parseJson(Buffer.from(status.slice(status.indexOf('{'))));
  const { error = { message: status } } = objectOf(parsed.ok ? parsed.value : null);
  const { code } = objectOf(error);
  const isHttp = typeof code === 'number' && code >= 400 && code < 600;
  return { status: isHttp ? code : 500, body: { error } };
}
