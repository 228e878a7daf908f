// The turns of answers whose web searches and images the gateway runs, at random: what the provider,
// the search and the images bill is charged or booked as a loss, to the microdollar where all usage
// arrived.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import type { Json } from '../support/plain/reading.ts';
import { imagePaths, openaiDraws } from '../support/image-upstreams.ts';
import { Random } from '../support/random.ts';
import type { Turn, TurnFormat } from '../support/turn-format.ts';
import { chatTurns } from '../support/turns-chat.ts';
import { geminiTurns } from '../support/turns-gemini.ts';
import { messagesTurns } from '../support/turns-messages.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  type Script,
} from '../support/upstream.ts';
import { checkStream } from '../support/stream-rules.ts';
import { scaled } from '../support/volume.ts';

const searchMicros = 5_000;
/** The most that is estimated too much for a turn whose usage did not arrive. */
const estimateMax = 40_000;
const wires: Readonly<Record<string, { readonly paths: string[]; readonly format: TurnFormat }>> = {
  anthropic: { paths: ['/v1/messages'], format: messagesTurns },
  local: { paths: ['/local/v1/chat/completions'], format: chatTurns },
  google: {
    paths: ['/v1beta/models/m:generateContent', '/v1beta/models/m:streamGenerateContent'],
    format: geminiTurns,
  },
};
/** How each client asks for a search. */
const clients = {
  responses: {
    path: '/v1/responses',
    body: { input: 'x', tools: [{ type: 'web_search' }, { type: 'image_generation' }] },
  },
  messages: {
    path: '/v1/messages',
    body: {
      max_tokens: 8_000,
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    },
  },
  chat: {
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'x' }], web_search_options: {} },
  },
};
const exact = ['answers', 'refuses', 'breaks down', 'sends JSON'];
const outcomes = [...exact, 'resets', 'breaks off', 'ends at once', 'counts nothing'];

const refusal = answerStatus(400, { body: { error: { message: 'it is refused' } } });

type PlannedTurn = {
  outcome: string;
  readonly input: number;
  readonly output: number;
  readonly searches: number;
  readonly images: number;
};

const model = (provider: string) => ({
  routes: [{ provider, model: 'm' }],
  prices: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
  context_tokens: 200_000,
  max_input_tokens: 180_000,
  max_output_tokens: 8_000,
  supports: { thinking: true },
  // Anthropic's own search is not sold.
  tool_prices: { web_search: null },
});
const gateway = await startGateway((upstream) => ({
  providers: { brave: { base_url: `${upstream.url}/brave`, api_key: 'none' } },
  search: { price_usd: searchMicros / 1e6 },
  models: Object.fromEntries(Object.keys(wires).map((name) => [name, model(name)])),
  log: { level: 'fatal' },
}));
after(() => gateway.stop());

/** Gives an answer or its frames this usage. */
function counted<T>(answer: T, { outcome, input, output }: PlannedTurn): T {
  const usageOf: Record<string, number> = {
    input_tokens: input,
    output_tokens: output,
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    promptTokenCount: input,
    candidatesTokenCount: output,
    thoughtsTokenCount: 0,
    totalTokenCount: input + output,
  };
  const change = (name: string, part: unknown) => {
    if (outcome === 'counts nothing' && name.startsWith('usage')) return undefined;
    return usageOf[name] ?? part;
  };
  return JSON.parse(JSON.stringify(answer, change)) as T;
}

function turnWith({ searches, images }: PlannedTurn): Turn {
  const call = (name: string, index: number) => ({
    id: `${name}_${index}`,
    name,
    arguments: { query: `query ${index}`, prompt: `prompt ${index}` },
  });
  const calls = [
    ...Array.from({ length: searches }, (_, index) => call('web_search', index)),
    ...Array.from({ length: images }, (_, index) => call('generate_image', index)),
  ];
  return { thought: null, text: 'Some words.', calls };
}

/** Plays the turns in order. Returns what those that were counted bill. */
function play(wire: string, turns: readonly PlannedTurn[]): () => number {
  const { paths, format } = wires[wire]!;
  const waiting = [...turns];
  let billed = 0;
  const script: Script = (response, request) => {
    const turn = waiting.shift()!;
    const isStream = (request.body as Json)['stream'] === true || request.path.includes(':stream');
    const said = turnWith(turn);
    const frames = counted(format.frames(said), turn);
    const whole = answerJson(counted(format.whole(said), turn));
    if (turn.outcome === 'refuses') return refusal(response, request);
    if (turn.outcome === 'breaks down') return answerStatus(500)(response, request);
    if (turn.outcome === 'resets') return void response.destroy();
    if (turn.outcome === 'ends at once') return void response.writeHead(200).end();
    if (turn.outcome === 'breaks off') {
      const half = isStream ? framesText(frames.slice(0, Math.ceil(frames.length / 2))) : '{';
      const type = isStream ? 'text/event-stream' : 'application/json';
      return void response
        .writeHead(200, { 'content-type': type })
        .write(half, () => response.destroy());
    }
    if (turn.outcome !== 'counts nothing') billed += turn.input * 3 + turn.output * 15;
    const sendsJson = !isStream || turn.outcome === 'sends JSON';
    return (sendsJson ? whole : answerSse(frames))(response, request);
  };
  for (const path of paths) gateway.upstream.on(path, script);
  return () => billed;
}

type Episode = {
  readonly client: keyof typeof clients;
  readonly wire: string;
  readonly stream: boolean;
  readonly turns: readonly PlannedTurn[];
  /** The turn that may not end well. */
  readonly odd: PlannedTurn;
  readonly searchesFail: boolean;
  readonly imagesFail: boolean;
};

async function check(episode: Episode): Promise<void> {
  const { client, wire, stream, turns, odd, searchesFail, imagesFail } = episode;
  const billed = play(wire, turns);
  let searches = 0;
  gateway.upstream.on('/brave/web/search', (response, request) => {
    if (!searchesFail) searches += 1;
    const script = searchesFail ? answerStatus(500) : answerJson({ web: { results: [] } });
    return script(response, request);
  });
  let imagesMicros = 0;
  gateway.upstream.on(imagePaths.generations, (response, request) => {
    if (imagesFail) return refusal(response, request);
    const tokens = { input_tokens: 30, output_tokens: 400 + 10 * turns.length };
    imagesMicros += tokens.input_tokens * 5 + tokens.output_tokens * 30;
    return openaiDraws(1, tokens)(response, request);
  });
  const own = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
  const { path, body } = clients[client];
  const reply = await gateway.post(path, { key: own.key, body: { model: wire, ...body, stream } });
  const isAnswered =
    reply.status === 200 && (!stream || checkStream(client, reply.text).ending === 'success');
  const { postedMicros, heldMicros } = await gateway.balance(own.account);
  const charged = 50_000_000 - postedMicros;
  const losses = await gateway.lossesOf(reply.requestId);
  const lost = losses.reduce((sum, loss) => sum + loss, 0);
  const where = JSON.stringify({ client, wire, stream, turns, charged, lost, billed: billed() });
  assert.equal(heldMicros, 0, where);
  assert.equal(charged > 0, isAnswered, where);
  if (isAnswered) assert.equal(lost, 0, where);
  const excess = charged + lost - billed() - searches * searchMicros - imagesMicros;
  if (exact.includes(odd.outcome)) assert.equal(excess, 0, where);
  else assert.ok(Math.abs(excess) < estimateMax, where);
}

test('what random turns and searches bill is charged or booked as a loss', async () => {
  const random = new Random('hosted-tools-bill');
  for (let episode = 0; episode < scaled(120, 1_500); episode++) {
    const client = random.pick(['responses', 'messages', 'chat'] as const);
    const wire = random.pick(Object.keys(wires));
    const stream = random.chance(0.5);
    const count = 1 + random.below(4);
    const turns = Array.from({ length: count }, (_, index): PlannedTurn => {
      const searches = index === count - 1 ? 0 : 1 + random.below(3);
      const mayDraw = client === 'responses' && index < count - 1 && random.chance(0.5);
      return {
        outcome: 'answers',
        input: 20 + random.below(500),
        output: 1 + random.below(900),
        searches,
        images: mayDraw ? 1 + random.below(4) : 0,
      };
    });
    const odd = random.pick(turns);
    odd.outcome = random.pick(outcomes);
    await check({
      client,
      wire,
      stream,
      turns,
      odd,
      searchesFail: random.chance(0.2),
      imagesFail: random.chance(0.2),
    });
  }
});

for (const stream of [false, true])
  test(`a turn counted as less than it wrote is lost by its count when the next breaks down, ${stream ? 'streamed' : 'whole'}`, async () => {
    const first = { outcome: 'answers', input: 100, output: 1, searches: 1, images: 0 };
    const odd = { outcome: 'breaks down', input: 100, output: 100, searches: 0, images: 0 };
    await check({
      client: 'responses',
      wire: 'local',
      stream,
      turns: [first, odd],
      odd,
      searchesFail: false,
      imagesFail: false,
    });
  });
