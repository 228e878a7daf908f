// `npm run bench -- --affinity`: how many tokens are read from providers' prompt caches when many
// conversations share three routes of one rank, beside the same conversations on one route. The
// caches are simulated, so the counts do not depend on the machine.
import type { JsonObject } from '../src/lib/json.ts';
import { agents, fileOf } from '../tests/support/agent-conversations.ts';
import { cachingPrices, cachingProvider } from '../tests/support/caching-provider.ts';
import { startGateway } from '../tests/support/gateway.ts';
import { Random } from '../tests/support/random.ts';
import { TestClock } from '../tests/support/test-clock.ts';
import { answerStatus, startUpstream } from '../tests/support/upstream.ts';
import { formatTable } from './table.ts';

const conversations = 60;
const turns = 15;
/** Between two requests: a conversation has a turn about every 18 s. */
const stepMs = 300;

type Case = {
  readonly name: string;
  readonly routes: number;
  /** The first route answers 503 in the second third of the time. */
  readonly fails?: boolean;
  /** Each request names another conversation. */
  readonly forgets?: boolean;
};
const cases: readonly Case[] = [
  { name: 'one route', routes: 1 },
  { name: 'three routes', routes: 3 },
  { name: 'three routes, of which one is down for a third of the time', routes: 3, fails: true },
  { name: 'three routes, each request for itself', routes: 3, forgets: true },
];

export async function benchAffinity(): Promise<string> {
  const rows: string[][] = [];
  let readByOne: number | null = null;
  for (const one of cases) {
    const { input, read, requests } = await play(one);
    readByOne ??= read;
    rows.push([
      one.name,
      input.toLocaleString('en'),
      read.toLocaleString('en'),
      `${((100 * read) / readByOne).toFixed(1)} %`,
      requests.join(', '),
    ]);
  }
  const head = ['', 'input tokens', 'from a cache', 'of one route', 'requests by route'];
  return `${conversations} conversations of ${turns} turns, a third from each format's clients:\n\n${formatTable(head, rows)}`;
}

async function play({ routes, fails = false, forgets = false }: Case) {
  const clock = new TestClock();
  const upstreams = await Promise.all(Array.from({ length: routes }, () => startUpstream()));
  const caches = upstreams.map(() => cachingProvider(clock));
  const names = upstreams.map((_, index) => `route-${index + 1}`);
  const claude = {
    routes: names.map((provider) => ({ provider, model: 'claude-sonnet-5', rank: 0 })),
    max_input_tokens: 500_000,
    max_output_tokens: 8_000,
    prices: cachingPrices,
  };
  const providers = Object.fromEntries(
    upstreams.map(({ url }, index) => [
      names[index],
      { kind: 'anthropic', base_url: url, api_key: 'none' },
    ]),
  );
  const retries = { max_attempts: 3 };
  const gateway = await startGateway({ providers, retries, models: { claude } }, { clock });
  try {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 10_000 });
    const answersFrom = (index: number, script = caches[index]!.script) =>
      upstreams[index]!.on('/v1/messages', script);
    for (const index of upstreams.keys()) answersFrom(index);
    const third = (conversations * turns) / 3;
    for (const [step, turn] of turnsInRandomOrder().entries()) {
      if (fails && step === third) answersFrom(0, answerStatus(503));
      if (fails && step === 2 * third) answersFrom(0);
      const headers: Record<string, string> = forgets ? { 'x-session-id': `${step}` } : {};
      await turn(async (path, request) => {
        const body = { model: 'claude', ...request };
        const reply = await clock.skipWaits(gateway.post(path, { key, headers, body }));
        if (reply.status !== 200) throw new Error(reply.text);
        return reply.json<JsonObject>();
      });
      await clock.advance(stepMs);
    }
  } finally {
    await gateway.stop();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  }
  const billed = caches.flatMap((cache) => cache.billed);
  const read = sum(billed.map((usage) => usage.cache_read_input_tokens));
  const fresh = sum(billed.map((usage) => usage.input_tokens + usage.cache_creation_input_tokens));
  return { input: read + fresh, read, requests: caches.map((cache) => cache.billed.length) };
}

type Send = (path: string, request: JsonObject) => Promise<JsonObject>;

/** The turns of all conversations, each conversation's in their order. */
function turnsInRandomOrder(): ((send: Send) => Promise<void>)[] {
  const random = new Random('affinity');
  const running = Array.from({ length: conversations }, (_, index) => {
    const agent = Object.values(agents)[index % 3]!(`Mend test ${index}.`);
    return { agent, request: agent.first, left: turns };
  });
  const order = [];
  for (let open = running; open.length > 0; open = open.filter(({ left }) => left > 0)) {
    const one = random.pick(open);
    const turn = turns - one.left--;
    order.push(async (send: Send) => {
      const answer = await send(one.agent.path, one.request);
      one.request = one.agent.next(one.request, answer, fileOf(turn));
    });
  }
  return order;
}

const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0);
