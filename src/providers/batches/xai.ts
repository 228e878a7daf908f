// xAI's batches: an empty one is made, and the lines are added to it. Nothing can be deleted there.
// https://docs.x.ai/developers/advanced-api-usage/batch-api (read 2026-11-29)
import { unreadable } from '../../canonical/upstream-broken.ts';
import { isObject, type JsonObject, objectOf, textOrNull } from '../../lib/json.ts';
import { batchLinesMax } from '../../terms/batch.ts';
import type { BatchHost, HostCalls, ReadLine, RemoteBatch, RemoteLine } from './host.ts';
import { failedBy, readId, readList } from './shared.ts';

const path = '/batches';

export const xAiBatches: BatchHost = {
  paths: /^\/chat\/completions$/,
  // It takes 25 MB at once, and a line grows when it is written.
  max: { bytes: 12 * 1024 * 1024 },
  frame: () => ({ begin: '{"batch_requests":[', between: ',', end: ']}' }),
  writeLine: (customId, _path, body) => ({
    batch_request_id: customId,
    batch_request: { chat_get_completion: body },
  }),
  // The batch stands in the place of a file: it runs nothing before it has lines.
  async upload(calls, { mark }) {
    const { batch_id: id } = await calls.call('POST', path, { name: mark });
    return readId(id);
  },
  async create(calls, { lines }, id) {
    await calls.send(`${path}/${id}/requests`, { ...lines, headers: {} });
    return id!;
  },
  async find(calls, { fileId: id }) {
    const { total } = await countsOf(calls, id!);
    return total > 0 ? { id: id! } : null;
  },
  look,
  cancelPath: (id) => `${path}/${id}:cancel`,
  read,
  readLine,
};

async function countsOf(calls: HostCalls, id: string) {
  const { state, cancel_by_xai_message: refusal } = await calls.call('GET', `${path}/${id}`);
  if (!isObject(state)) throw unreadable('the batch has no state');
  const count = (name: string) => Number(state[`num_${name}`] ?? 0);
  return {
    total: count('requests'),
    pending: count('pending'),
    ran: count('success') + count('error'),
    canceled: count('cancelled'),
    refusal: textOrNull(refusal),
  };
}

async function look(calls: HostCalls, id: string, lines: number): Promise<RemoteBatch> {
  const { total, pending, ran, canceled, refusal } = await countsOf(calls, id);
  if (refusal !== null && ran === 0) return failedBy({ message: refusal });
  // It may count the lines later than it takes them.
  if (refusal === null && (total < lines || pending > 0)) return { state: 'running' };
  const isCut = refusal !== null || canceled > 0;
  const results = [`${path}/${id}/results`];
  return { state: 'ended', unrun: isCut ? 'canceled' : null, results, files: [] };
}

/** In pages. Those that go in a circle, or on without an end, cannot be read. */
async function* read(calls: HostCalls, at: string): AsyncGenerator<ReadLine> {
  const seen = new Set<string>();
  let query = '';
  for (let count = 0; count <= batchLinesMax;) {
    const { results, pagination_token: token } = await calls.call('GET', at + query);
    const lines = readList(results ?? []);
    for (const line of lines) yield { line, bytes: 0 };
    if (lines.length === 0 || typeof token !== 'string' || token === '') return;
    if (seen.has(token)) break;
    seen.add(token);
    count += lines.length;
    query = `?pagination_token=${encodeURIComponent(token)}`;
  }
  yield { line: null, bytes: 0 };
}

function readLine(line: JsonObject): RemoteLine | null {
  const { batch_request_id: customId, batch_result: given } = line;
  if (typeof customId !== 'string') return null;
  const { response, error = line['error_message'] ?? line['error'] } = objectOf(given);
  const body = objectOf(response)['chat_get_completion'];
  if (isObject(body)) return { customId, result: { status: 200, body } };
  const said = typeof error === 'string' ? { message: error } : error;
  // It does not say whose fault it is.
  return isObject(said) ? { customId, result: { status: 500, body: { error: said } } } : null;
}
