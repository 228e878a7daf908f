// Gemini's batches: the lines come with the request, and the results with the batch, as one JSON text.
// So a batch is short: its results must fit into the longest answer that is read.
// https://ai.google.dev/api/batch-api (read 2026-11-29); embeddings as in npm `@google/genai` 3.3.
import { isObject, type JsonObject, listOf, objectOf } from '../../lib/json.ts';
import type { BatchHost, HostCalls, ReadLine, RemoteBatch, RemoteLine, ToFind } from './host.ts';
import { endedAs, failedBy, listed, readIdIn, readList, stateOf } from './shared.ts';

const path = '/v1beta/batches';
const embed = ':batchEmbedContents';
/** The results are in the list, too. */
const pageBatches = 10;
const list = { items: 'operations', next: 'nextPageToken', query: 'pageToken' } as const;
const words = {
  running: 'BATCH_STATE_PENDING BATCH_STATE_RUNNING',
  completed: 'BATCH_STATE_SUCCEEDED',
  canceled: 'BATCH_STATE_CANCELLED',
  expired: 'BATCH_STATE_EXPIRED',
  failed: 'BATCH_STATE_FAILED',
} as const;

export const geminiBatches: BatchHost = {
  paths: /:(?:generateContent|batchEmbedContents)$/,
  lineInputsMax: 1,
  // It takes 20 MB, and a line grows when it is written.
  max: { lines: 100, bytes: 8 * 1024 * 1024 },
  frame: (mark) => ({
    begin: `{"batch":{"displayName":"${mark}","inputConfig":{"requests":{"requests":[`,
    between: ',',
    end: ']}}}}',
  }),
  writeLine(customId, live, body) {
    const [request] = live.endsWith(embed) ? listOf(body['requests']) : [body];
    return { request, metadata: { custom_id: customId } };
  },
  async create(calls, { path: live, lines }) {
    const at = live.endsWith(embed)
      ? live.replace(embed, ':asyncBatchEmbedContent')
      : live.replace(/:generateContent$/, ':batchGenerateContent');
    return readIdIn((await calls.send(at, { ...lines, headers: {} }))['name']);
  },
  find,
  look: async (calls, id) => readBatch(id, await calls.call('GET', `${path}/${id}`)),
  cancelPath: (id) => `${path}/${id}:cancel`,
  read,
  readLine,
};

/** In no known order. */
async function find(calls: HostCalls, { mark }: ToFind) {
  for await (const one of listed(calls, `${path}?pageSize=${pageBatches}`, list)) {
    const { displayName, state } = objectOf(one['metadata']);
    // An earlier try may have failed.
    if (displayName === mark && state !== words.failed) return { id: readIdIn(one['name']) };
  }
  return null;
}

function readBatch(id: string, { metadata, error }: JsonObject): RemoteBatch {
  const { state: word, output } = objectOf(metadata);
  const own = [`${path}/${id}`];
  const state = stateOf(words, word);
  if (state === 'running') return { state };
  if (state !== 'failed') return endedAs(state, { results: own, files: own });
  if (isObject(output)) return endedAs('completed', { results: own, files: own });
  return failedBy(error, { mayPass: statusOf(error) === 429, files: own });
}

/** A batch without results has no `output`. */
async function* read(calls: HostCalls, at: string): AsyncGenerator<ReadLine> {
  const { metadata } = await calls.call('GET', at);
  const { output } = objectOf(metadata);
  const { inlinedResponses: all } = objectOf(output);
  const { inlinedResponses: lines = [] } = objectOf(all);
  for (const line of readList(lines)) yield { line, bytes: 0 };
}

function readLine({ response, error, metadata }: JsonObject): RemoteLine | null {
  const { custom_id: customId } = objectOf(metadata);
  if (typeof customId !== 'string') return null;
  if (isObject(response))
    return { customId, result: { status: 200, body: asLiveAnswer(response) } };
  if (!isObject(error)) return null;
  return { customId, result: { status: statusOf(error), body: { error } } };
}

/** A line has one text, and a live call a list of them. */
function asLiveAnswer(response: JsonObject): JsonObject {
  const { embedding, tokenCount } = response;
  if (embedding === undefined) return response;
  // A count of 64 bits is written as text.
  const counted = tokenCount !== undefined && { promptTokenCount: Number(tokenCount) };
  return { embeddings: [embedding], usageMetadata: { ...counted } };
}

/** HTTP's word for a google.rpc.Status. */
export function statusOf(error: unknown): number {
  const statuses: Readonly<Record<number, number>> = {
    3: 400,
    4: 504,
    5: 404,
    7: 403,
    8: 429,
    9: 400,
    11: 400,
    14: 503,
    16: 401,
  };
  return statuses[isObject(error) ? Number(error['code']) : 0] ?? 500;
}
