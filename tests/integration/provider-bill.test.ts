// Everything a provider bills is charged or booked as a loss. A simulated provider keeps its own
// bill of random episodes: four client formats on all hosts, streamed and whole, with
// faults, retries, fallbacks, malformed answers, and clients that leave at any moment. When its
// complete usage arrived, the books match the bill to the microdollar; otherwise the mean of each
// category does. What cannot be observed (how many tokens a text has, how fast a model writes) differs
// by random noise only. Each route has a speed of its own, from 10 to 1,500 tokens a second; half of
// the calls that answer wait in a queue before the model runs. Tasks, such as embeddings, match to the
// microdollar, whatever their hosts do.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { modelTypes } from '../../src/terms/model-type.ts';
import {
  BillingProvider,
  billedModels,
  billedModelsConfig,
  outputTokensMax,
  speeds,
  type BilledModel,
  type CallPlan,
  type CallOutcome,
} from '../support/billing-provider.ts';
import { addressed, clients, promptOf, type Client } from '../support/endpoints.ts';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import { hostProviders } from '../support/model-hosts.ts';
import fc from '../support/property.ts';
import { Random } from '../support/random.ts';
import {
  billedChats,
  billedTaskModels,
  billedTasks,
  billingTaskHost,
  taskHostProviders,
  taskHostsOf,
  taskOutcome,
} from '../support/task-bills.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';

const episodes = scaled(120, 1_000);
const atOnce = 40;
/**
 * Random noise on the provider's speeds and counts; less in a small run, where chance would look
 * like a bias.
 */
const noise = scaled(0.02, 0.1);
/** Tolerance for the bias of a category, in standard errors of its mean, and beside them. */
const errorsMax = 5;
const biasMax = 0.01;
/** Tolerance for what clients that leave are charged, at each speed. */
const leaversBiasMax = 0.1;
const clock = new TestClock();
/** The clock moves so far at a time. */
const stepMs = 20;
const provider = new BillingProvider(clock);
const random = new Random('provider-bill');
const stopFields: Readonly<Record<Client['name'], string | null>> = {
  responses: null,
  chat: 'stop',
  messages: 'stop_sequences',
  gemini: 'stopSequences',
};

/** A small run has room for few models. */
const models = billedModels.filter(
  ({ tokensPerSecond }) => scaled(false, true) || tokensPerSecond === 25 || tokensPerSecond === 500,
);
const gateway = await startGateway(
  ({ url }) => ({
    providers: { ...hostProviders(url, { api_key: upstreamKey }), ...taskHostProviders(url) },
    models: { ...billedModelsConfig(), ...billedTaskModels() },
    retries: { max_attempts: 3 },
    log: { level: 'fatal' },
  }),
  { clock, tuning: { backoffMs: 1, retriesMin: 1_000, failuresMax: 1_000 } },
);
provider.serve(gateway.upstream);
await measureRoutes();
after(() => gateway.stop());

type Episode = {
  readonly name: string;
  readonly client: Client;
  readonly model: BilledModel;
  readonly stream: boolean;
  readonly plans: readonly CallPlan[];
  readonly prompt: string;
  /** Milliseconds until the client leaves; null: it stays. */
  readonly leavesAfterMs: number | null;
  readonly hasKey: boolean;
  /** Google runs code for a client of its own format. */
  readonly runsCode: boolean;
  /**
   * Requests a stop sequence that occurs at once and that the provider does not know or does not
   * obey.
   */
  readonly stops: boolean;
};

const lastOutcomes: readonly CallOutcome[] = [
  'answers',
  'answers',
  'answers',
  'answers',
  'counts no input',
  'counts no output',
  'counts nothing',
  'breaks off',
  'sends an error',
  'falls silent',
  'answers nonsense',
  'hangs',
];

const isAnswered = (outcome: CallOutcome) => outcome === 'answers' || outcome.startsWith('counts');

/** Two seconds of writing on each route, so that its speed is known. */
async function measureRoutes(): Promise<void> {
  const buyer = await gateway.makeKey({ mode: 'live', creditUsd: 10_000 });
  const calls = models.flatMap((model, index) =>
    [false, true].map((stream) => {
      const { tokensPerSecond } = model;
      const name = `e${1_000_000 + 2 * index + Number(stream)}`;
      const plan = planFor('answers', {
        tokensPerSecond,
        hiddenTokens: 0,
        words: 2 * tokensPerSecond,
      });
      return {
        name,
        client: clients[0]!,
        model,
        stream,
        plans: [plan],
        prompt: `[${name}]`,
        leavesAfterMs: null,
        hasKey: false,
        runsCode: false,
        stops: false,
      };
    }),
  );
  const state = { isOver: false };
  const all = Promise.all(calls.map((call) => playEpisode(call, buyer))).finally(
    () => (state.isOver = true),
  );
  while (!state.isOver) await clock.advance(100);
  await all;
}

type Written = Pick<CallPlan, 'tokensPerSecond' | 'hiddenTokens' | 'words'>;

function planFor(outcome: CallOutcome, written: Written): CallPlan {
  return { outcome, queueMs: 0, inputFactor: 1, until: 1, ...written };
}

function inventEpisode(index: number): Episode {
  const model = random.pick(models);
  // Anthropic's models think when asked, and show it.
  const isThinking = model.thinks && model.host.wire !== 'messages';
  const stream = random.chance(0.5);
  const client = random.pick(clients);
  const runsCode = client.name === 'gemini' && model.host.wire === 'gemini';
  const aroundOne = () => 1 + (random.next() * 2 - 1) * noise;
  const planOf = (outcome: CallOutcome): CallPlan => ({
    outcome,
    // In front of a failure, nobody can tell a queue from a model that writes.
    queueMs: isAnswered(outcome) && random.chance(0.5) ? random.below(20_000) : 0,
    hiddenTokens: isThinking && !outcome.startsWith('counts no') ? 300 + random.below(2_000) : 0,
    words: 50 + random.below(600),
    tokensPerSecond: model.tokensPerSecond * aroundOne(),
    inputFactor: aroundOne(),
    until: 0.2 + random.next() * 0.7,
    ...(runsCode && { codeTokens: random.below(200_000) }),
  });
  const first = random.chance(0.15)
    ? [planOf(random.pick(['refuses', 'breaks off'] as const))]
    : [];
  const last = planOf(random.pick(lastOutcomes));
  const wholeMs = ((last.hiddenTokens + last.words) / last.tokensPerSecond) * 1_000;
  return {
    name: `e${index}`,
    client,
    runsCode,
    model,
    stream,
    plans: [...first, last],
    prompt: `[e${index}]${' the'.repeat(200 + random.below(3_000))}`,
    leavesAfterMs: random.chance(0.35) ? Math.round(last.queueMs + random.next() * wholeMs) : null,
    hasKey: random.chance(0.1),
    stops: random.chance(0.2),
  };
}

type Books = {
  readonly billMicros: number;
  readonly bookedMicros: number;
  readonly lossMicros: number;
};

async function playEpisode(
  episode: Episode,
  { key, account }: { readonly key: string; readonly account: string },
): Promise<Books> {
  const { client, name, model, stream, prompt, leavesAfterMs, hasKey, runsCode, stops } = episode;
  provider.plan(name, episode.plans);
  const stopField = stopFields[client.name];
  const { path, body } = addressed(
    client,
    client.body({
      model: model.name,
      stream,
      [client.limitField]: outputTokensMax,
      ...promptOf(client.name, prompt),
      ...(runsCode && { tools: [{ codeExecution: {} }] }),
      ...(stops && stopField && { [stopField]: ['the the,the'] }),
    }),
  );
  const booksBefore = await booksOf(account);
  const { request, response } = gateway.open(path, {
    key,
    body,
    ...(hasKey && { headers: { 'idempotency-key': name } }),
  });
  const reply = readToEnd(response);
  if (leavesAfterMs !== null) {
    // Before that, nobody can tell when everything has ended.
    await provider.called(name);
    await clock.sleep(leavesAfterMs);
    request.destroy();
  }
  await reply;
  // Clients that left are charged later: after minutes of the test's clock, which is slow on a busy
  // machine.
  await until(
    async () => (await gateway.balance(account)).heldMicros === 0 && provider.isIdle(name),
    3_600_000,
  );
  const booksAfter = await booksOf(account);
  const billMicros = provider.billedMicros(name);
  return {
    billMicros,
    bookedMicros: booksAfter.booked - booksBefore.booked,
    lossMicros: booksAfter.loss - booksBefore.loss,
  };
}

/** Any kind of call, with any ending. */
async function readToEnd(response: Promise<AsyncIterable<unknown>>): Promise<void> {
  try {
    for await (const _ of await response);
  } catch {
    // The client has left.
  }
}

async function booksOf(
  account: string,
): Promise<{ readonly booked: number; readonly loss: number }> {
  const { read } = gateway.database;
  const ledger = `${account}:live` as const;
  const charges = await read
    .selectFrom('charges')
    .select(({ fn }) => fn.sum<number | null>('upstream_cost_micros').as('sum'))
    .where('ledger_id', '=', ledger)
    .executeTakeFirst();
  const losses = await read
    .selectFrom('entries')
    .select(({ fn }) => fn.sum<number | null>('loss_micros').as('sum'))
    .where('ledger_id', '=', ledger)
    .where('kind', '!=', 'settle')
    .executeTakeFirst();
  const loss = losses?.sum ?? 0;
  return { booked: (charges?.sum ?? 0) + loss, loss };
}

test(`the provider's bill of ${episodes} random episodes is charged or booked as a loss`, async (t) => {
  const table = new Map<string, CategoryBooks>();
  const leavers = new Map(speeds.map((speed) => [speed, emptyBooks()]));
  const waiting = Array.from({ length: episodes }, (_, index) => inventEpisode(index));
  const play = async (): Promise<void> => {
    const buyer = await gateway.makeKey({ mode: 'live', creditUsd: 10_000 });
    for (let episode = waiting.pop(); episode; episode = waiting.pop()) {
      const { billMicros, bookedMicros, lossMicros } = await playEpisode(episode, buyer);
      if (isAnsweredLeaver(episode)) {
        const row = leavers.get(episode.model.tokensPerSecond)!;
        row.count += 1;
        row.bill += billMicros;
        row.booked += bookedMicros - lossMicros;
      }
      const category = categoryOf(episode);
      const row = table.get(category) ?? emptyBooks();
      table.set(category, row);
      row.count += 1;
      row.bill += billMicros;
      row.booked += bookedMicros;
      row.loss += lossMicros;
      row.squares += (bookedMicros - billMicros) ** 2;
      if (billMicros !== bookedMicros)
        row.inexact.push(
          `${JSON.stringify({ ...episode, prompt: episode.prompt.length, client: episode.client.name })}: billed ${billMicros}, booked ${bookedMicros}`,
        );
    }
  };
  const state = { isOver: false };
  const all = Promise.all(Array.from({ length: atOnce }, play)).finally(
    () => (state.isOver = true),
  );
  while (!state.isOver) await clock.advance(stepMs);
  await all;
  for (const [category, books] of [...table].toSorted(([one], [other]) => one.localeCompare(other)))
    t.diagnostic(
      `${category}: ${books.count} episodes, billed ${books.bill}, charged ${books.booked - books.loss}, lost ${books.loss}, bias ${percent(biasOf(books))}, standard error ${percent(errorOf(books))}`,
    );
  for (const [speed, books] of leavers) {
    t.diagnostic(
      `clients that leave a model of ${speed} tokens/s: ${books.count} episodes, charged ÷ billed ${(books.booked / books.bill).toFixed(3)}`,
    );
    if (scaled(false, true)) assert.ok(Math.abs(biasOf(books)) <= leaversBiasMax, `${speed}`);
  }
  const estimated = emptyBooks();
  for (const [category, books] of table) {
    if (category === hangs) {
      assert.equal(books.booked, books.loss, 'a provider that hangs costs the client nothing');
      continue;
    }
    if (category.startsWith('exact')) {
      assert.deepEqual(books.inexact.slice(0, 3), [], category);
      continue;
    }
    estimated.bill += books.bill;
    estimated.booked += books.booked;
    estimated.squares += books.squares;
    // A few episodes have no stable mean.
    if (scaled(false, true)) assertUnbiased(books, category);
  }
  assertUnbiased(estimated, 'all that was estimated');
});

const texts = fc.array(fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }), {
  minLength: 1,
  maxLength: 20,
});

for (const [model, task] of Object.entries({ ...billedTasks, ...billedChats })) {
  test(`${model}: what accounts pay and what is lost are together what the hosts bill`, async () => {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
    const { soldAt: path = modelTypes[task.type].path } = task;
    await fc.assert(
      fc.asyncProperty(texts, taskOutcome, taskOutcome, async (words, ...outcomes) => {
        let billed = 0;
        const bill = (micros: number) => (billed += micros);
        const order = task.order(model, words);
        for (const [index, host] of taskHostsOf(task).entries())
          gateway.upstream.on(
            `/${host}${task.path}`,
            billingTaskHost(task, order, { outcome: outcomes[index]!, bill }),
          );
        const before = (await gateway.balance(account)).availableMicros;
        const headers = { ...order.request.headers, 'x-service-cache': 'false' };
        const reply = await clock.skipWaits(gateway.post(path, { ...order.request, key, headers }));
        const { availableMicros, heldMicros } = await gateway.balance(account);
        const paid = before - availableMicros;
        const losses = await gateway.lossesOf(reply.requestId);
        const lost = losses.reduce((sum, one) => sum + one, 0);
        assert.equal(heldMicros, 0);
        assert.equal(paid > 0, reply.status === 200, reply.text);
        assert.equal(paid + lost, billed, `${JSON.stringify(outcomes)}: ${paid}, ${lost}`);
      }),
      { numRuns: scaled(25, 200) },
    );
  });
}

type CategoryBooks = {
  count: number;
  bill: number;
  booked: number;
  loss: number;
  /** The sum of each episode's squared difference between bill and books. */
  squares: number;
  inexact: string[];
};

function emptyBooks(): CategoryBooks {
  return { count: 0, bill: 0, booked: 0, loss: 0, squares: 0, inexact: [] };
}

function biasOf({ bill, booked }: CategoryBooks): number {
  return booked / bill - 1;
}

/** The standard error of the bias, when the noise of each episode is independent. */
function errorOf({ bill, squares }: CategoryBooks): number {
  return Math.sqrt(squares) / bill;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

function assertUnbiased(books: CategoryBooks, where: string): void {
  const tolerance = biasMax + errorsMax * errorOf(books);
  assert.ok(
    Math.abs(biasOf(books)) <= tolerance,
    `${where}: billed ${books.bill}, booked ${books.booked}, tolerance ${percent(tolerance)}\n${books.inexact.slice(0, 3).join('\n')}`,
  );
}

/** The last call would have answered, and it was the only one. */
function isAnsweredLeaver({ plans, leavesAfterMs, hasKey }: Episode): boolean {
  const outcomes = plans.map(({ outcome }) => outcome);
  return leavesAfterMs !== null && !hasKey && outcomes.join() === 'answers';
}

const hangs = 'the provider hangs';

function categoryOf({ plans, leavesAfterMs, stream, model, hasKey, stops }: Episode): string {
  const outcome = plans.at(-1)!.outcome;
  const shape = stream ? 'streamed' : 'whole';
  if (outcome === 'hangs' && plans.every((plan) => plan.outcome !== 'breaks off')) return hangs;
  if (plans.some((plan) => plan.outcome === 'breaks off'))
    return `estimated: a call breaks off, ${shape}`;
  if (leavesAfterMs !== null && !hasKey)
    return `estimated: client leaves, ${shape}, ${model.thinks ? 'thinks' : 'plain'}`;
  if (stops && stream) return `estimated: asked to stop, ${outcome}`;
  if (outcome === 'answers' || outcome === 'answers nonsense') return `exact: ${outcome}`;
  return `estimated: ${outcome}, ${shape}`;
}
