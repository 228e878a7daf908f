// The official clients, with their own retries but without the waits between them, while the
// upstream fails as in tests/support/faults.ts. They get an answer if a retry can help, otherwise a
// typed error, and never hang.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Anthropic, * as anthropicErrors from '@anthropic-ai/sdk';
import OpenAI, * as openaiErrors from 'openai';
import type { WireName } from '../support/answers.ts';
import { faultModel, startFaultGateway } from '../support/fault-gateway.ts';
import { answerText, faultMark } from '../support/fault-server.ts';
import { hostNamed } from '../support/model-hosts.ts';
import { faults, type Expected, type Fault } from '../support/faults.ts';

const faulty = await startFaultGateway({ log: { level: 'error' } });
const { key: richKey } = await faulty.gateway.makeKey({ mode: 'live', creditUsd: 100 });
const openaiAt = (url: string, apiKey: string) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, fetch: fetchCell });
const anthropicAt = (url: string, apiKey: string) =>
  new Anthropic({ baseURL: url, apiKey, fetch: fetchCell });
const openai = openaiAt(faulty.gateway.url, richKey);
const anthropic = anthropicAt(faulty.gateway.url, richKey);
after(() => faulty.stop());

/** Names the cell for the fault server, and lets the client retry at once. */
async function fetchCell(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const cell = typeof init?.body === 'string' ? /\[\[fault \S+ (\S+)/.exec(init.body)?.[1] : null;
  if (cell) faulty.server.asked(cell);
  const response = await fetch(url, init);
  const headers = new Headers(response.headers);
  if (!response.ok) headers.set('retry-after-ms', '1');
  return new Response(response.body, { status: response.status, headers });
}

/**
 * One fault of each kind: no connection, no answer, half of one, a refusal, a 429 storm, an invalid
 * answer, a mid-stream error.
 */
const rows = [
  'refused',
  'hang',
  'reset-at-once',
  'close-mid-head',
  'reset-mid-body',
  'hang-mid-body',
  'length-too-short',
  'no-http',
  'storm-date-long-past',
  'server-error-html',
  'not-found',
  'credential-refused',
  'error-under-200',
  'html-called-right',
  'garbage-frame-mid-stream',
  'error-event-first',
  'error-event-mid-stream',
];
/** The first request, and the two retries that both clients make by default. */
const triesMax = 3;

type Ask = (model: string, content: string, stream: boolean) => Promise<string>;

const clients: Readonly<
  Record<
    WireName,
    { readonly ask: Ask; readonly errors: typeof openaiErrors | typeof anthropicErrors }
  >
> = {
  chat: { ask: askChat, errors: openaiErrors },
  responses: { ask: askResponses, errors: openaiErrors },
  messages: { ask: askMessages, errors: anthropicErrors },
};

async function askChat(model: string, content: string, stream: boolean): Promise<string> {
  const body = {
    model,
    messages: [{ role: 'user' as const, content }],
    max_completion_tokens: 200,
  };
  if (!stream)
    return (await openai.chat.completions.create(body)).choices[0]?.message.content ?? '';
  let text = '';
  for await (const chunk of await openai.chat.completions.create({ ...body, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? '';
  }
  return text;
}

async function askResponses(model: string, input: string, stream: boolean): Promise<string> {
  const body = { model, input, max_output_tokens: 200 };
  if (!stream) return (await openai.responses.create(body)).output_text;
  let text = '';
  for await (const event of await openai.responses.create({ ...body, stream: true })) {
    if (event.type === 'response.output_text.delta') text += event.delta;
  }
  return text;
}

async function askMessages(model: string, content: string, stream: boolean): Promise<string> {
  const body = { model, messages: [{ role: 'user' as const, content }], max_tokens: 200 };
  const message = stream
    ? await anthropic.messages.stream(body).finalMessage()
    : await anthropic.messages.create(body);
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

test('clients retry temporary failures, and end with a typed error otherwise', async (t) => {
  const counts = { answers: 0, errors: 0 };
  const asked = (['chat', 'responses', 'messages'] as const).flatMap((wire) =>
    faults
      .filter(({ name }) => rows.includes(name))
      .flatMap((fault) =>
        [false, true].flatMap((stream) =>
          [1, 99].map((times) => tell({ wire, fault, stream, times }, counts)),
        ),
      ),
  );
  await Promise.all(asked);
  t.diagnostic(`${counts.answers} answers, ${counts.errors} typed errors`);
  assert.ok(counts.answers > 30 && counts.errors > 90);
});

/** The first `times` requests get the fault. */
type Case = {
  readonly wire: WireName;
  readonly fault: Fault;
  readonly stream: boolean;
  readonly times: number;
};

async function tell(
  { wire, fault, stream, times }: Case,
  counts: { answers: number; errors: number },
): Promise<void> {
  const expected = fault.expect({ host: hostNamed(wire), stream, straight: true });
  if (!expected) return;
  const cell = `${wire}-${fault.name}-${stream}-${times}`;
  const where = `${cell}, as ${expected.kind}`;
  const mark = faultMark(fault.name, cell, times);
  const isRefused = fault.play === null;
  const outcome = await clients[wire].ask(faultModel(wire, isRefused), mark, stream).then(
    (text) => ({ text }),
    (error: unknown) => ({ error }),
  );
  faulty.server.answered(cell);
  const tries = faulty.server.callsOf(cell);
  if ('text' in outcome) {
    counts.answers++;
    assert.equal(outcome.text, answerText(cell), where);
    assert.deepEqual([times, tries], [1, 2], where);
    return;
  }
  counts.errors++;
  checkError(outcome.error, { wire, expected, where });
  if (isRefused) return;
  // After the first byte nothing is retried by anyone; a stream that breaks with its first bytes
  // still gets a status.
  const canRetry =
    !isCallersFault(expected) && !(outcome.error instanceof Error && isToldInStream(outcome.error));
  assert.equal(tries, canRetry ? triesMax : 1, where);
  assert.ok(times > 1 || !canRetry, `${where}: trying again would have helped`);
}

function isCallersFault(expected: Expected): boolean {
  return expected.kind === 'refused' && expected.code === 'invalid_request';
}

/** The clients' errors have a status if the answer had one. */
function isToldInStream(error: Error): boolean {
  return 'status' in error && error.status === undefined;
}

type Told = { readonly wire: WireName; readonly expected: Expected; readonly where: string };

function checkError(error: unknown, { wire, expected, where }: Told): void {
  const { APIError, BadRequestError, InternalServerError } = clients[wire].errors;
  assert.ok(error instanceof APIError, `${where}: ${String(error)}`);
  if (isToldInStream(error)) return assert.equal(expected.kind, 'broken', where);
  assert.ok(
    error instanceof (isCallersFault(expected) ? BadRequestError : InternalServerError),
    `${where}: ${String(error)}`,
  );
  assert.ok(error.message.length > 10 && error.requestID?.startsWith('req_'), where);
}

test('an unreachable gateway is an APIConnectionError after retries', async () => {
  const url = 'http://127.0.0.1:1';
  // Without an answer there is no `Retry-After`: each client waits half a second.
  const once = { maxRetries: 1 };
  const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user' as const, content: 'Hi' }] };
  const [byOpenai, byAnthropic] = [openaiAt(url, 'none'), anthropicAt(url, 'none')];
  await Promise.all([
    assert.rejects(
      byOpenai.responses.create({ model: 'm', input: 'Hi' }, once),
      openaiErrors.APIConnectionError,
    ),
    assert.rejects(byAnthropic.messages.create(body, once), anthropicErrors.APIConnectionError),
  ]);
});
