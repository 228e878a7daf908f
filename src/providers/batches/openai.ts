// OpenAI's batches, and those of hosts with the same API: a file with the lines, then a batch of it.
// https://platform.openai.com/docs/api-reference/batch
import { isObject, type JsonObject, objectOf, listOf } from '../../lib/json.ts';
import { writeForm } from '../../lib/multipart.ts';
import type { BatchHost, HostCalls, RemoteBatch, RemoteLine, ToFind, ToSend } from './host.ts';
import { endedAs, failedBy, pagesMax, readId, readList, stateOf } from './shared.ts';

/** OpenAI's word for too many tokens that wait, which passes. */
const noRoom = 'token_limit_exceeded';

const words = {
  running: 'validating in_progress finalizing cancelling',
  completed: 'completed',
  canceled: 'cancelled',
  expired: 'expired',
  failed: 'failed',
} as const;

export type OpenAiBatches = {
  /** After how long the host deletes the files; null: it never does. */
  readonly keptSeconds: number | null;
  /** Left out: the paths of the lines. */
  readonly endpoint?: string;
};

export function openAiBatches({ keptSeconds, endpoint }: OpenAiBatches): BatchHost {
  return {
    paths: /^\/(?:responses|(?:chat\/)?completions|embeddings)$/,
    // For all of its lines, and OpenAI's.
    max: { inputs: 50_000 },
    frame: fileFrame,
    writeLine: (customId, path, body) => ({
      custom_id: customId,
      method: 'POST',
      url: `/v1${path}`,
      body,
    }),
    upload: (calls, sent) => uploadFile(calls, sent, keptSeconds),
    filePath,
    async create(calls, { mark, path }, fileId) {
      const { id } = await calls.call('POST', '/batches', {
        input_file_id: fileId,
        endpoint: endpoint ?? `/v1${path}`,
        completion_window: '24h',
        metadata: { tollgate: mark },
        ...(keptSeconds !== null && {
          output_expires_after: { anchor: 'created_at', seconds: keptSeconds },
        }),
      });
      return readId(id);
    },
    find,
    look: async (calls, id) => readBatch(await calls.call('GET', `/batches/${id}`)),
    cancelPath: (id) => `/batches/${id}/cancel`,
    readLine,
  };
}

export const fileFrame = () => ({ begin: '', between: '\n', end: '\n' });
export const filePath = (fileId: string) => `/files/${fileId}`;

/** Reads a line of OpenAI's form. */
export function readLine({ custom_id: customId, response, error }: JsonObject): RemoteLine | null {
  if (typeof customId !== 'string') return null;
  // A refused line has no `error`; its status says so.
  if (isObject(response) && typeof response['status_code'] === 'number')
    return { customId, result: { status: response['status_code'], body: response['body'] } };
  if (typeof error === 'string')
    return { customId, result: { status: 500, body: { error: { message: error } } } };
  if (!isObject(error)) return null;
  if (error['code'] === 'batch_expired') return { customId, result: 'expired' };
  if (error['code'] === 'batch_cancelled') return { customId, result: 'canceled' };
  return { customId, result: { status: 500, body: { error } } };
}

/** Returns the paths of files of results and of their removal. */
export function pathsOf(fileIds: readonly unknown[]) {
  const paths = fileIds.filter((id) => typeof id === 'string').map((id) => filePath(readId(id)));
  return { results: paths.map((path) => `${path}/content`), files: paths };
}

/** `keptSeconds`: as in OpenAiBatches. */
export async function uploadFile(
  calls: HostCalls,
  { mark, lines }: ToSend,
  keptSeconds: number | null,
) {
  const expiry = [
    ['expires_after[anchor]', 'created_at'],
    ['expires_after[seconds]', String(keptSeconds)],
  ] as const;
  const file = { field: 'file', name: `${mark}.jsonl`, mediaType: 'application/jsonl', ...lines };
  const fields = [['purpose', 'batch'] as const, ...(keptSeconds === null ? [] : expiry)];
  const { id } = await calls.send('/files', writeForm(fields, [file]));
  return readId(id);
}

async function find(calls: HostCalls, { mark, sinceMs }: ToFind) {
  let after = '';
  for (let page = 0; page < pagesMax; page += 1) {
    const list = await calls.call('GET', `/batches?limit=100${after}`);
    const batches = readList(list['data']);
    // An earlier try may have failed.
    for (const { id, metadata, status } of batches)
      if (isObject(metadata) && metadata['tollgate'] === mark && status !== 'failed')
        return { id: readId(id) };
    const last = batches.at(-1);
    // Groq's list, from memory.
    const { next_cursor: cursor } = objectOf(list['paging']);
    const hasCursor = typeof cursor === 'string' && cursor !== '';
    if (!last || (list['has_more'] !== true && !hasCursor)) return null;
    // Newest first. Azure writes some times as text.
    const { created_at: at } = last;
    if ((typeof at === 'string' ? Date.parse(at) : Number(at) * 1_000) < sinceMs) return null;
    after = hasCursor ? `&cursor=${encodeURIComponent(cursor)}` : `&after=${readId(last['id'])}`;
  }
  return 'unsure' as const;
}

function readBatch({ status, errors, ...batch }: JsonObject): RemoteBatch {
  // Azure writes some with a capital.
  const state = stateOf(words, String(status).toLowerCase());
  if (state === 'running') return { state };
  if (state !== 'failed')
    return endedAs(state, pathsOf([batch['output_file_id'], batch['error_file_id']]));
  const [first] = listOf(objectOf(errors)['data']);
  return failedBy(first, { mayPass: isObject(first) && first['code'] === noRoom });
}
