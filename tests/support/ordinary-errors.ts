// Everyday client errors, each with confidential content, for the search for secrets in logs and
// files.
import { canaryCores } from './fault-server.ts';
import type { TestGateway } from './gateway.ts';
import type { SendOptions } from './http.ts';

/** A well-formed key, so that it passes the first checks. */
export const wrongKey = 'tg_live_wr0ngKeyThatNobodyHas0123456789abcdef';

type Sent = SendOptions & { readonly path: string; readonly status: number };

const canary = canaryCores.prompt;
const path = '/v1/responses';

function ordinaryErrors(key: string, model: string): readonly Sent[] {
  const body = { model, input: canary };
  const keyed = { 'idempotency-key': `conflict-${canaryCores.prompt.length}` };
  return [
    { path, status: 401, key: wrongKey, body },
    { path: `${path}?api_key=${wrongKey}`, status: 401, body },
    {
      path: `${path}?api_key=${key}&x=${encodeURIComponent(canary)}`,
      status: 400,
      body: { model, input: canary, temperature: canary },
    },
    { path, status: 200, key, headers: { 'x-api-key': wrongKey }, body },
    { path, status: 400, key, body: `{"input":"${canary}` },
    { path, status: 400, key, body: { ...body, [canary]: 1, max_output_tokens: canary } },
    {
      path,
      status: 400,
      key,
      headers: { 'idempotency-key': `${canary}\u00a0${'x'.repeat(1_100)}` },
      body,
    },
    { path, status: 404, key, body: { ...body, model: canary } },
    { path: `/v1/models/${encodeURIComponent(canary)}`, status: 404, key },
    { path: `/v1/${encodeURIComponent(canary)}`, status: 404, key },
    { path: `/v1/usage?cursor=${encodeURIComponent(canary)}`, status: 400, key },
    { path, status: 415, key, headers: { 'content-type': 'text/plain' }, body: canary },
    { path, status: 200, key, headers: keyed, body: { ...body, max_output_tokens: 200 } },
    { path, status: 422, key, headers: keyed, body: { ...body, max_output_tokens: 201 } },
    {
      path: '/v1/chat/completions',
      status: 400,
      key,
      body: { model, messages: [{ role: canary, content: canary }] },
    },
    {
      path: '/v1/messages',
      status: 400,
      key,
      body: { model, messages: [{ role: 'user', content: canary }] },
    },
  ];
}

/** Returns the unexpected statuses. */
export async function makeOrdinaryErrors(
  gateway: TestGateway,
  { key, model }: { key: string; model: string },
): Promise<string[]> {
  const wrong: string[] = [];
  for (const { path: where, status, ...options } of ordinaryErrors(key, model)) {
    const reply = await gateway.get(where, options);
    if (reply.status !== status)
      wrong.push(`${where}: ${reply.status} in place of ${status}: ${reply.text.slice(0, 200)}`);
  }
  return wrong;
}
