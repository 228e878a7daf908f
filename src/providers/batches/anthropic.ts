// Anthropic's message batches: the lines come with the request. A batch has no metadata, so one whose
// id was lost is known by its lines, once they have results.
// https://platform.claude.com/docs/en/api/creating-message-batches
import { unreadable } from '../../canonical/upstream-broken.ts';
import { readErrorStatus } from '../../formats/error-message.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import type { BatchHost, HostCalls, RemoteLine, ToFind } from './host.ts';
import { pagesMax, readId, readJsonLines, readList } from './shared.ts';

const path = '/v1/messages/batches';

export const anthropicBatches: BatchHost = {
  paths: /^\/v1\/messages$/,
  frame: () => ({ begin: '{"requests":[', between: ',', end: ']}' }),
  writeLine: (customId, _path, params) => ({ custom_id: customId, params }),
  async create(calls, { lines }) {
    const { id } = await calls.send(path, { ...lines, headers: {} });
    return readId(id);
  },
  find,
  async look(calls, id) {
    const { processing_status: status } = await calls.call('GET', `${path}/${id}`);
    if (status === 'in_progress' || status === 'canceling') return { state: 'running' };
    if (status !== 'ended') throw unreadable('the batch has an unknown status');
    const results = [`${path}/${id}/results`];
    return { state: 'ended', unrun: null, results, files: [`${path}/${id}`] };
  },
  cancelPath: (id) => `${path}/${id}/cancel`,
  readLine,
};

function readLine({ custom_id: customId, result }: JsonObject): RemoteLine | null {
  if (typeof customId !== 'string' || !isObject(result)) return null;
  const { type, message, error } = result;
  if (type === 'succeeded') return { customId, result: { status: 200, body: message } };
  if (type === 'canceled' || type === 'expired') return { customId, result: type };
  if (type !== 'errored') return null;
  const status = readErrorStatus(objectOf(error).error) ?? 500;
  return { customId, result: { status, body: error } };
}

/** The batches of the operator's other programs are in the same list. */
async function find(calls: HostCalls, { mark, lines, sinceMs, untilMs }: ToFind) {
  let isUnsure = false;
  let after = '';
  for (let page = 0; page < pagesMax; page += 1) {
    const list = await calls.call('GET', `${path}?limit=100${after}`);
    const batches = readList(list['data']);
    for (const batch of batches) {
      const createdMs = Date.parse(String(batch['created_at']));
      if (createdMs < sinceMs) return isUnsure ? 'unsure' : null;
      if (countOf(batch) !== lines || createdMs > untilMs) continue;
      const id = readId(batch['id']);
      if (batch['processing_status'] !== 'ended') isUnsure = true;
      else if (await hasMark(calls, id, mark)) return { id };
    }
    const last = batches.at(-1);
    if (!last || list['has_more'] !== true) return isUnsure ? 'unsure' : null;
    after = `&after_id=${readId(last['id'])}`;
  }
  return 'unsure' as const;
}

function countOf({ request_counts: counts }: JsonObject): number {
  return isObject(counts)
    ? Object.values(counts).reduce<number>((sum, one) => sum + Number(one), 0)
    : 0;
}

async function hasMark(calls: HostCalls, id: string, mark: string): Promise<boolean> {
  for await (const { line } of readJsonLines(calls, `${path}/${id}/results`)) {
    const read = line && readLine(line);
    if (read) return read.customId.startsWith(`${mark}_`);
  }
  return false;
}
