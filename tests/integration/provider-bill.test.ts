// Whatever a provider bills is charged, or booked as a loss. A simulated provider keeps its own bill of random episodes: three client
// formats on four upstream formats, streamed and whole, with faults, retries, fallbacks, odd answers, and clients that leave at any moment.
// Where its whole usage came, the books agree with the bill to the microdollar; else by the mean of each category. What cannot be known
// from outside is alike on both sides: how fast models write, and how many tokens a text has, but for random noise around it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BillingProvider, outputTokensMax, type CallPlan, type Fate } from '../support/billing-provider.ts';
import { endpoints, type Endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { Random } from '../support/random.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';

const episodes = scaled(120, 10_000);
const atOnce = 40;
/** How far the provider's speeds and counts lie from what we take them for; in a small run chance would make a bias of it. */
const noise = scaled(0.02, 0.1);
/** Of all that is billed in a category; in a small run, in all of them together: a few episodes have no mean. */
const biasMax = scaled(0.04, 0.02);
/** USD per million tokens: a token of input is a microdollar. */
const prices = { input: 1, output: 8 };
const geminiPath = '/v1beta/models/upstream-model';

const clock = new TestClock();
const provider = new BillingProvider(clock);
const random = new Random('provider-bill');
let gateway: TestGateway;

const routes = {
  responses: { provider: 'openai', api: 'responses', model: 'upstream-model' },
  chat: { provider: 'openai', api: 'chat', model: 'upstream-model' },
  messages: { provider: 'anthropic', model: 'upstream-model' },
  gemini: { provider: 'google', model: 'upstream-model' },
} as const;
type Wire = keyof typeof routes;
const wires = Object.keys(routes) as Wire[];

before(async () => {
  const model = (thinking: boolean, ...names: readonly Wire[]) => ({
    routes: names.map((name) => routes[name]),
    max_input_tokens: 100_000,
    max_output_tokens: outputTokensMax,
    supports: { thinking },
    prices,
  });
  const models = wires.flatMap((wire, index) => {
    const fallback = wires[(index + 1) % wires.length]!;
    return [
      [`thinks-${wire}`, model(true, wire)],
      [`plain-${wire}`, model(false, wire)],
      [`two-${wire}`, model(false, wire, fallback)],
    ];
  });
  gateway = await startGateway(
    {
      models: Object.fromEntries(models) as object,
      retries: { max_attempts: 3, attempts_per_route: 2, backoff_base_ms: 1, budget_floor: 1_000 },
      health: { failures: 1_000 },
      log: { level: 'fatal' },
    },
    { clock },
  );
  for (const wire of ['responses', 'chat', 'messages'] as const) {
    const { upstreamPath } = endpoints.find(({ name }) => name === wire)!;
    gateway.upstream.on(upstreamPath, provider.script(wire));
  }
  for (const method of ['generateContent', 'streamGenerateContent'])
    gateway.upstream.on(`${geminiPath}:${method}`, provider.script('gemini'));
});
after(() => gateway.stop());

type Episode = {
  readonly name: string;
  readonly client: Endpoint;
  readonly model: string;
  readonly stream: boolean;
  readonly plans: readonly CallPlan[];
  readonly prompt: string;
  /** Milliseconds after which the client leaves; null: it stays. */
  readonly leavesAfterMs: number | null;
  readonly hasKey: boolean;
};

const lastFates: readonly Fate[] = [
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
];

function inventEpisode(index: number): Episode {
  const kind = random.pick(['thinks', 'plain', 'plain', 'two'] as const);
  const wire = random.pick(wires);
  // Anthropic's models think for those who ask, and show it.
  const isThinking = kind === 'thinks' && wire !== 'messages';
  const stream = random.chance(0.5);
  const aroundOne = () => 1 + (random.next() * 2 - 1) * noise;
  const planOf = (fate: Fate): CallPlan => ({
    fate,
    hiddenTokens: isThinking && !fate.startsWith('counts no') ? 300 + random.below(2_000) : 0,
    words: 50 + random.below(600),
    tokensPerSecond: 100 * aroundOne(),
    inputFactor: aroundOne(),
    until: 0.2 + random.next() * 0.7,
  });
  const first = random.chance(0.15) ? [planOf(random.pick(['refuses', 'breaks off'] as const))] : [];
  const last = planOf(random.pick(lastFates));
  const wholeMs = ((last.hiddenTokens + last.words) / last.tokensPerSecond) * 1_000;
  return {
    name: `e${index}`,
    client: random.pick(endpoints),
    model: `${kind}-${wire}`,
    stream,
    plans: [...first, last],
    prompt: `[e${index}]${' the'.repeat(200 + random.below(3_000))}`,
    leavesAfterMs: random.chance(0.35) ? Math.round(random.next() * wholeMs) : null,
    hasKey: random.chance(0.1),
  };
}

type Books = { readonly billMicros: number; readonly bookedMicros: number; readonly lossMicros: number };

async function playEpisode(
  episode: Episode,
  { key, account }: { readonly key: string; readonly account: string },
): Promise<Books> {
  const { client, name, model, stream, prompt, leavesAfterMs, hasKey } = episode;
  provider.plan(name, episode.plans);
  const fields = client.name === 'responses' ? { input: prompt } : { messages: [{ role: 'user', content: prompt }] };
  const body = client.body({ model, stream, [client.limitField]: outputTokensMax, ...fields });
  const booksBefore = await booksOf(account);
  const { request, response } = gateway.open(client.path, { key, body, ...(hasKey && { headers: { 'idempotency-key': name } }) });
  const reply = readToEnd(response);
  if (leavesAfterMs !== null) {
    // Before that, nobody could tell when all of it is over.
    await provider.called(name);
    await clock.sleep(leavesAfterMs);
    request.destroy();
  }
  await reply;
  // Those who have left are charged later.
  await until(async () => (await gateway.balance(account)).heldMicros === 0 && provider.isIdle(name));
  const booksAfter = await booksOf(account);
  const bills = provider.bills.get(name)!;
  const billMicros = bills.reduce((sum, bill) => sum + bill.input * prices.input + bill.output * prices.output, 0);
  return { billMicros, bookedMicros: booksAfter.booked - booksBefore.booked, lossMicros: booksAfter.loss - booksBefore.loss };
}

/** Whatever it is, and however it ends. */
async function readToEnd(response: Promise<AsyncIterable<unknown>>): Promise<void> {
  try {
    for await (const _ of await response);
  } catch {
    // The client has left.
  }
}

async function booksOf(account: string): Promise<{ readonly booked: number; readonly loss: number }> {
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
  const table = new Map<string, { count: number; bill: number; booked: number; loss: number; inexact: string[] }>();
  const waiting = Array.from({ length: episodes }, (_, index) => inventEpisode(index));
  const play = async (): Promise<void> => {
    const buyer = await gateway.makeKey({ mode: 'live', creditUsd: 10_000 });
    for (let episode = waiting.pop(); episode; episode = waiting.pop()) {
      const { billMicros, bookedMicros, lossMicros } = await playEpisode(episode, buyer);
      const category = categoryOf(episode);
      const row = table.get(category) ?? { count: 0, bill: 0, booked: 0, loss: 0, inexact: [] };
      table.set(category, row);
      row.count += 1;
      row.bill += billMicros;
      row.booked += bookedMicros;
      row.loss += lossMicros;
      if (billMicros !== bookedMicros)
        row.inexact.push(
          `${JSON.stringify({ ...episode, prompt: episode.prompt.length, client: episode.client.name })}: billed ${billMicros}, booked ${bookedMicros}`,
        );
    }
  };
  const state = { isOver: false };
  const all = Promise.all(Array.from({ length: atOnce }, play)).finally(() => (state.isOver = true));
  while (!state.isOver) await clock.advance(10);
  await all;
  for (const [category, { count, bill, booked, loss }] of [...table].toSorted(([one], [other]) => one.localeCompare(other)))
    t.diagnostic(
      `${category}: ${count} episodes, billed ${bill}, charged ${booked - loss}, lost ${loss}, bias ${((booked / bill - 1) * 100).toFixed(2)} %`,
    );
  const estimated = { bill: 0, booked: 0 };
  for (const [category, { bill, booked, inexact }] of table) {
    if (category.startsWith('exact')) {
      assert.deepEqual(inexact.slice(0, 3), [], category);
      continue;
    }
    estimated.bill += bill;
    estimated.booked += booked;
    if (scaled(false, true)) assertUnbiased({ bill, booked }, `${category}\n${inexact.slice(0, 3).join('\n')}`);
  }
  assertUnbiased(estimated, 'all that was estimated');
});

function assertUnbiased({ bill, booked }: { readonly bill: number; readonly booked: number }, where: string): void {
  assert.ok(Math.abs(booked / bill - 1) <= biasMax, `billed ${bill}, booked ${booked}: ${where}`);
}

function categoryOf({ plans, leavesAfterMs, stream, model, hasKey }: Episode): string {
  const fate = plans.at(-1)!.fate;
  const shape = stream ? 'streamed' : 'whole';
  if (plans.some((plan) => plan.fate === 'breaks off')) return `estimated: a call breaks off, ${shape}`;
  if (leavesAfterMs !== null && !hasKey)
    return `estimated: client leaves, ${shape}, ${model.split('-')[0] === 'thinks' ? 'thinks' : 'plain'}`;
  if (fate === 'answers' || fate === 'answers nonsense') return `exact: ${fate}`;
  return `estimated: ${fate}, ${shape}`;
}
