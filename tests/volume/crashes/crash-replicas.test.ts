// Three gateways on one PostgreSQL database charge one account under load, while one or two of them
// at a time are killed with -9 at random moments and restarted. The clients' records must match the
// books. TOLLGATE_KILLS: how often.
//
// Every request has a number, which its upstream reports as its input tokens, so each charge
// identifies its request. The balance is kept so low that requests are refused and top-ups made all
// the time: one charge too many would overdraw it.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ledgerIdOf } from '../../../src/domain/ledger/commands.ts';
import { openLedgerInProcess } from '../../../src/domain/ledger/open-ledger.ts';
import { verify } from '../../../src/domain/ledger/reports/verify.ts';
import { newIdWithPrefix } from '../../../src/lib/ids.ts';
import { micros } from '../../../src/lib/money.ts';
import { answerContent } from '../../support/answers.ts';
import { endpoints, type Endpoint } from '../../support/endpoints.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { send, type Reply } from '../../support/http.ts';
import type { Program } from '../../support/program.ts';
import { startReplicaPrograms } from '../../support/replicas.ts';
import { until } from '../../support/until.ts';
import type { Script } from '../../support/upstream.ts';

const killsWanted = Number(process.env['TOLLGATE_KILLS'] ?? 10);
const dollar = 1_000_000;
const topUpMicros = micros(2 * dollar);
/** A limit for hangs only: longer than a killed process's lease plus a sweep. */
const hangMs = 180_000;

const model = {
  prices: { input: 0, output: 1_000 },
  max_input_tokens: 1_000_000,
  max_output_tokens: 200,
};
const models = {
  'by-openai': { ...model, routes: [{ provider: 'openai', model: 'm' }] },
  'by-anthropic': { ...model, routes: [{ provider: 'anthropic', model: 'm' }] },
};

test(`none of ${killsWanted} kills among three gateways loses a charge, charges twice, overdraws or leaves a hold`, async (t) => {
  const { replicas, setup, upstream } = await startReplicaPrograms(t, {
    count: 3,
    config: { models },
  });
  for (const { upstreamPath, name } of endpoints) upstream.on(upstreamPath, answerAtSomeTime(name));
  const load = await Load.start(replicas, setup);
  const kills = await killOverAndOver(replicas, load);
  await load.stop();
  await until(async () => (await setup.balance(load.account)).heldMicros === 0, hangMs);
  await compare(load, t, `${kills} kills`);
});

async function killOverAndOver(replicas: readonly Program[], load: Load): Promise<number> {
  let kills = 0;
  while (kills < killsWanted) {
    await load.answers(1 + Math.floor(Math.random() * 16));
    const first = Math.floor(Math.random() * replicas.length);
    const victims = [
      replicas[first]!,
      ...(Math.random() < 0.25 ? [replicas[(first + 1) % replicas.length]!] : []),
    ];
    await Promise.all(victims.map((victim) => victim.kill()));
    kills += victims.length;
    // For a while the other gateways run alone.
    await load.answers(Math.floor(Math.random() * 20));
    await Promise.all(victims.map((victim) => victim.start()));
  }
  return kills;
}

/** A complete answer, and the cost its client was told. */
type Served = { readonly costMicros: number; readonly isReplay: boolean };
type Order = {
  readonly number: number;
  readonly endpoint: Endpoint;
  readonly stream: boolean;
  readonly isKeyed: boolean;
};

/**
 * Clients of every format, streamed and whole, with and without an Idempotency-Key, each using the
 * gateways in turn.
 */
class Load {
  readonly setup: TestGateway;
  readonly account: string;
  /** Complete answers by number. */
  readonly journal = new Map<number, Served>();
  readonly keyed: number[] = [];
  readonly brokenOff = new Set<number>();
  refused = 0;
  unavailable = 0;
  readonly toldFree: number[] = [];
  creditMicros = dollar;
  readonly #replicas: readonly Program[];
  readonly #key: string;
  readonly #clients: Promise<void>[];
  /** Interrupted requests with a key, until they are served. */
  readonly #pursuits: Promise<void>[] = [];
  #count = 0;
  #turn = 0;
  #isOver = false;
  #failure: unknown = null;
  #toppingUp: Promise<void> | null = null;

  static async start(replicas: readonly Program[], setup: TestGateway): Promise<Load> {
    const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 1 });
    return new Load({ replicas, setup, key, account });
  }

  private constructor(given: {
    replicas: readonly Program[];
    setup: TestGateway;
    key: string;
    account: string;
  }) {
    this.setup = given.setup;
    this.account = given.account;
    this.#replicas = given.replicas;
    this.#key = given.key;
    const kinds = endpoints.flatMap((endpoint) =>
      [true, false].map((stream) => ({ endpoint, stream })),
    );
    const all = kinds.flatMap((kind) => [true, false].map((isKeyed) => ({ ...kind, isKeyed })));
    this.#clients = all.map((kind) =>
      this.#keepAsking(kind).catch((error: unknown) => void (this.#failure ??= error)),
    );
  }

  /** Waits for this many more complete answers. */
  async answers(count: number): Promise<void> {
    const wanted = this.journal.size + count;
    await until(() => {
      if (this.#failure) throw this.#failure;
      return this.journal.size >= wanted;
    }, hangMs);
  }

  /** Resolves when every request with a key has been served. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    await Promise.all(this.#pursuits);
    if (this.#failure) throw this.#failure;
  }

  async #keepAsking(kind: Omit<Order, 'number'>): Promise<void> {
    while (!this.#isOver) {
      const order = { ...kind, number: ++this.#count };
      if (order.isKeyed) this.keyed.push(order.number);
      const isServed = await this.#try(order);
      // The killed process's lease may have to end first; its client goes on meanwhile.
      if (!isServed && order.isKeyed)
        this.#pursuits.push(
          this.#pursue(order).catch((error: unknown) => void (this.#failure ??= error)),
        );
      await setTimeout(Math.random() * 60);
    }
  }

  async #pursue(order: Order): Promise<void> {
    while (!(await this.#try(order))) await setTimeout(50);
  }

  /** Returns true when the answer was complete. */
  async #try(order: Order): Promise<boolean> {
    const { endpoint, stream, number, isKeyed } = order;
    // Long enough for the largest number: usage is cut to what the request could cause.
    const text = `order ${number}${' the'.repeat(5_000)}`;
    const { url } = this.#replicas[(this.#turn += 1) % this.#replicas.length]!;
    const prompt =
      endpoint.name === 'responses'
        ? { input: text }
        : { messages: [{ role: 'user', content: text }] };
    const body = endpoint.body({
      ...prompt,
      stream,
      model: endpoint.name === 'messages' ? 'by-anthropic' : 'by-openai',
    });
    const headers = isKeyed ? { 'idempotency-key': `order-${number}` } : undefined;
    let reply: Reply;
    try {
      reply = await send(url + endpoint.path, { key: this.#key, headers, body });
    } catch (error) {
      // Most fail because the gateway is down; the ones that matter were cut off by the kill.
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') this.brokenOff.add(number);
      return false;
    }
    if (/"insufficient_balance"/.test(reply.text)) {
      this.refused += 1;
      await (this.#toppingUp ??= this.#topUp());
      return false;
    }
    // The machine is overloaded: free, and reported as such.
    if (/"upstream_unavailable"/.test(reply.text)) {
      this.unavailable += 1;
      if (!isKeyed) this.toldFree.push(number);
      return false;
    }
    this.#note(order, reply);
    return true;
  }

  #note({ number, stream }: Order, reply: Reply): void {
    assert.equal(reply.status, 200, reply.text);
    if (stream) assert.match(reply.text, /\[DONE\]|response\.completed|message_stop/);
    const { costMicros } = reply;
    assert.ok(costMicros !== null, `a complete answer without its cost:\n${reply.text}`);
    const cache = reply.headers['x-service-cache'] ?? reply.trailers['x-service-cache'];
    assert.ok(!this.journal.has(number));
    this.journal.set(number, { costMicros, isReplay: cache === 'idempotent-replay' });
  }

  async #topUp(): Promise<void> {
    const ledger = await openLedgerInProcess(this.setup.database.url);
    try {
      const credit = {
        entryId: newIdWithPrefix('ent'),
        ledgerId: ledgerIdOf(this.account, 'live'),
        note: 'top-up',
      };
      await ledger.submit({ type: 'credit', ...credit, amountMicros: topUpMicros });
      this.creditMicros += topUpMicros;
    } finally {
      await ledger.close();
      this.#toppingUp = null;
    }
  }
}

async function compare(load: Load, t: TestContext, what: string) {
  const {
    setup,
    account,
    journal,
    keyed,
    brokenOff,
    refused,
    unavailable,
    toldFree,
    creditMicros,
  } = load;
  const ledgerId = ledgerIdOf(account, 'live');
  const charges = await setup.database.read
    .selectFrom('charges')
    .select(['input_tokens as number', 'cost_micros'])
    .where('ledger_id', '=', ledgerId)
    .execute();
  const costs = new Map(charges.map(({ number, cost_micros: cost }) => [number, cost as number]));
  assert.equal(costs.size, charges.length, 'a request was charged twice');
  const lost = [...journal].filter(([number]) => !costs.has(number));
  assert.deepEqual(lost, [], 'an answer was delivered and not charged');
  for (const [number, served] of journal) {
    // A retry gets for free what its interrupted first answer was charged for.
    if (served.isReplay) assert.equal(served.costMicros, 0);
    else assert.equal(served.costMicros, costs.get(number), `the charge of order ${number}`);
  }
  assert.deepEqual(
    keyed.filter((number) => !journal.has(number)),
    [],
    'a request under a key was never served',
  );

  assert.deepEqual(
    toldFree.filter((number) => costs.has(number)),
    [],
    'a request reported as free was charged',
  );

  const spent = charges.reduce((sum, { cost_micros: cost }) => sum + cost, 0);
  await setup.assertLeft(account, creditMicros - spent);
  const { lowest } = await setup.database.read
    .selectFrom('entries')
    .select((entries) => entries.fn.min('available_micros').as('lowest'))
    .where('ledger_id', '=', ledgerId)
    .executeTakeFirstOrThrow();
  assert.ok(Number(lowest) >= 0, 'an overdraft');
  const books = await verify(setup.database.read);
  assert.ok(books.ok, JSON.stringify(books));

  const retried = keyed
    .filter((number) => brokenOff.has(number))
    .map((number) => journal.get(number)!);
  const replayed = retried.filter(({ isReplay }) => isReplay);
  t.diagnostic(
    `${what}: ${journal.size} answers delivered whole, ${brokenOff.size} broken off, ${refused} refused for want of balance, ${unavailable} told 503, ` +
      `${charges.length - journal.size} charged but not completely delivered; ${retried.length} retried under their key and charged once ` +
      `(${replayed.length} had been charged before the kill); 0 lost, 0 double, lowest available ${Number(lowest)} micros, 0 held`,
  );
}

/**
 * Reports its number in its usage. Answers some requests at once and others slowly, so that a kill
 * hits requests at every step.
 */
function answerAtSomeTime(name: Endpoint['name']): Script {
  return async (response, request) => {
    const number = Number(/order (\d+)/.exec(JSON.stringify(request.body))?.[1]);
    const tokens = { input: number, output: 1 + Math.floor(Math.random() * 200) };
    await setTimeout(Math.random() * 40);
    await answerContent(
      name,
      { text: 'one two three four five', tokens },
      { paceMs: Math.random() * 6 },
    )(response, request);
  };
}
