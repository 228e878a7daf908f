// Constant load on several gateways with one database, and a comparison of the clients' view with
// the books.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { answerContent } from './answers.ts';
import type { Replica } from './balancer.ts';
import { endpoints, type Endpoint } from './endpoints.ts';
import type { TestGateway } from './gateway.ts';
import { send, type Reply } from './http.ts';
import { until } from './until.ts';
import type { LocalUpstream, Script } from './upstream.ts';
import { rowsOf } from './rows.ts';

/**
 * A request that uses all of its 200 tokens costs 20 cents and its input is free, so the charge
 * equals the hold.
 */
export const pricedModel = {
  routes: [{ provider: 'openai', model: 'm' }],
  prices: { input: 0, output: 1_000 },
  max_input_tokens: 1_000,
  max_output_tokens: 200,
};
const dollar = 1_000_000;
const creditUsd = 1_000;
/** A limit for hangs only. */
const hangMs = 120_000;

/**
 * Answers each request after a random delay and at a random pace, so that a fault hits requests at
 * every step.
 */
export function answerAtSomeTime(upstream: LocalUpstream, { paceMsMax = 4 } = {}): void {
  for (const { upstreamPath, name } of endpoints)
    upstream.on(upstreamPath, slowAnswer(name, paceMsMax));
}

function slowAnswer(name: Endpoint['name'], paceMsMax: number): Script {
  return async (response, request) => {
    const { model, max_completion_tokens: limit } = request.body as {
      model?: string;
      max_completion_tokens?: number;
    };
    const tokens =
      model === 'm'
        ? { input: 5, output: limit ?? 200 }
        : { input: 1 + Math.floor(Math.random() * 500), output: 50 };
    await setTimeout(Math.random() * 20);
    const answer = answerContent(
      name,
      { text: 'one two three four five', tokens },
      { paceMs: Math.random() * paceMsMax },
    );
    await answer(response, request);
  };
}

/**
 * Starts clients of every format, streamed and whole, each using the gateways in turn, and records
 * the costs they are told.
 */
export async function startLoad(
  replicas: readonly Replica[],
  setup: TestGateway,
  { clients: clientCount = 6 } = {},
) {
  const { key, account } = await setup.makeKey({ mode: 'live', creditUsd });
  // Reports the cost even when a stream's trailers are cut off.
  const headers = { 'x-service-stream-comments': 'true' };
  const journal = new Map<string, number>();
  /** Requests reported as free. */
  const free = new Set<string>();
  const state = { isOver: false, failed: 0, refused: 0 };
  const clients = Array.from({ length: clientCount }, async (_, client) => {
    const { path, body } = endpoints[client % endpoints.length]!;
    for (let turn = client; !state.isOver; turn++) {
      const { url } = replicas[turn % replicas.length]!;
      const reply = await send(url + path, {
        key,
        headers,
        body: body({ stream: client % 2 === 0 }),
      }).catch((error: unknown) => error);
      if (reply instanceof Error) {
        state.failed += 1;
        await setTimeout(20);
      } else if ((reply as Reply).status === 503) {
        state.refused += 1;
        free.add((reply as Reply).requestId);
        await setTimeout(20);
      } else note({ journal, free }, reply as Reply);
    }
  });
  return {
    account,
    journal,
    failed: () => state.failed,
    refused: () => state.refused,
    free: () => free.size,
    /** Waits for this many more complete answers. */
    answers: async (count: number) => {
      const wanted = journal.size + count;
      await until(() => journal.size >= wanted, hangMs);
    },
    stop: async () => {
      state.isOver = true;
      await Promise.all(clients);
    },
    compare: () => compare({ setup, account, journal, free }),
  };
}

type Told = { readonly journal: Map<string, number>; readonly free: Set<string> };

function note({ journal, free }: Told, reply: Reply): void {
  assert.equal(reply.status, 200, reply.text);
  const cost =
    /^: cost_micros=(\d+) /m.exec(reply.text)?.[1] ?? reply.headers['x-service-cost-micros'];
  // A stream that could not be charged ends with an error and is free.
  if (cost === undefined && /upstream_unavailable|internal_error/.test(reply.text))
    return void free.add(reply.requestId);
  assert.ok(typeof cost === 'string', `a complete answer without its cost:\n${reply.text}`);
  assert.ok(!journal.has(reply.requestId));
  journal.set(reply.requestId, Number(cost));
}

type Compared = Told & { readonly setup: TestGateway; readonly account: string };

/**
 * Checks that every delivered answer is charged once at the cost its client was told, that free
 * requests are not charged, and that the balance is the credit less the charges. Returns the number
 * of charges.
 */
async function compare({ setup, account, journal, free }: Compared): Promise<number> {
  const charges = await rowsOf(setup.database, 'charges', { ledger_id: `${account}:live` });
  const charged = new Map(charges.map((charge) => [charge.id, charge.cost_micros as number]));
  for (const [id, cost] of journal) assert.equal(charged.get(id), cost, `the charge of ${id}`);
  for (const id of free) assert.ok(!charged.has(id), `${id} was told that it is free, and charged`);
  const spent = charges.reduce((sum, charge) => sum + charge.cost_micros, 0);
  await setup.assertLeft(account, creditUsd * dollar - spent);
  const books = await verify(setup.database.read);
  assert.ok(books.ok, JSON.stringify(books));
  return charges.length;
}
