// A gateway that searches and draws for models whose provider does not, behind a scripted provider of
// each wire format; and what such models say in a turn.
import assert from 'node:assert/strict';
import type { RunningApp } from './running-app.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import type { Reply } from './http.ts';
import type { Json } from './plain/reading.ts';
import { rowOf } from './rows.ts';
import { flushEventLoop, TestClock } from './test-clock.ts';
import type { Turn, TurnFormat } from './turn-format.ts';
import { chatTurns } from './turns-chat.ts';
import { geminiTurns } from './turns-gemini.ts';
import { messagesTurns } from './turns-messages.ts';
import { responsesTurns } from './turns-responses.ts';
import { until } from './until.ts';
import { answerJson, answerSse, type Script } from './upstream.ts';

export const searchPath = '/brave/web/search';
/** An operator's own price gets no markup. */
export const searchMicros = 5_000;
/** 20 tokens of input and 10 of output. */
export const turnMicros = 20 * 3 + 10 * 15;
export const costOf = (turns: number, searches: number) =>
  turns * turnMicros + searches * searchMicros;

/** A model at a provider that is behind the gateway. */
export const hostedModel = (provider: string, id = 'm', fields: object = {}) => ({
  routes: [{ provider, model: id }],
  prices: { input: 3, output: 15 },
  context_tokens: 200_000,
  max_input_tokens: 180_000,
  max_output_tokens: 8_000,
  supports: { thinking: true, streaming: true, vision: false },
  ...fields,
});

type Host = {
  readonly provider: string;
  readonly model: string;
  readonly paths: readonly string[];
  readonly format: TurnFormat;
};
const gemini = '/v1beta/models/gemini-3-flash';
/** By the model of the gateway that runs there. */
export const wires = {
  'on-chat': {
    provider: 'local',
    model: 'm',
    paths: ['/local/v1/chat/completions'],
    format: chatTurns,
  },
  'on-messages': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    paths: ['/v1/messages'],
    format: messagesTurns,
  },
  'on-responses': {
    provider: 'openai',
    model: 'gpt-5',
    paths: ['/v1/responses'],
    format: responsesTurns,
  },
  'on-gemini': {
    provider: 'google',
    model: 'gemini-3-flash',
    paths: [`${gemini}:generateContent`, `${gemini}:streamGenerateContent`],
    format: geminiTurns,
  },
} as const satisfies Record<string, Host>;
export type Wire = keyof typeof wires;

export const thought = { text: 'I must look.', signature: 'c2lnbmF0dXJlIG9mIHRoZSB0aG91Z2h0' };

/** A text, then calls of the function with these values of its one argument. */
export const callTurn = (name: string, argument: string, ...values: string[]): Turn => ({
  thought: null,
  text: 'One moment.',
  calls: values.map((value, index) => ({
    id: `call_${index}`,
    name,
    arguments: { [argument]: value },
  })),
});
export const searchTurn = (...queries: string[]): Turn =>
  callTurn('web_search', 'query', ...queries);
export const answerTurn: Turn = { thought: null, text: 'It is 330 metres high.', calls: [] };

/** Answers whole or as a stream, as it is asked. */
function played(format: TurnFormat, turn: Turn): Script {
  return (response, request) => {
    const isStream = (request.body as Json)['stream'] === true || request.path.includes(':stream');
    const script = isStream ? answerSse(format.frames(turn)) : answerJson(format.whole(turn));
    return script(response, request);
  };
}

type HostedGateway = {
  readonly gateway: TestGateway<RunningApp>;
  readonly clock: TestClock;
  /** A live key with $50. */
  readonly key: string;
  readonly account: string;
  /** Plays the turns in order where the model runs; the last one repeats. */
  readonly play: (wire: Wire, ...turns: readonly (Turn | Script)[]) => void;
  readonly recordOf: (reply: Reply) => Promise<Json | undefined>;
  readonly heldMicros: () => Promise<number>;
  /** What was held for a charged request at the most. */
  readonly holdOf: (reply: Reply) => Promise<number>;
  readonly lossOf: (reply: Reply) => Promise<number>;
  /** Calls `meanwhile` and moves the clock until the key has a usage record, which it returns. */
  readonly firstRecord: (key: string, meanwhile?: () => void) => Promise<Json>;
};

/** Starts one with the models of `wires` and these. */
export async function startHostedGateway(
  models: object = {},
  settings: object = {},
): Promise<HostedGateway> {
  const clock = new TestClock();
  const ofWires = Object.entries(wires).map(([name, { provider, model }]) => [
    name,
    hostedModel(provider, model),
  ]);
  const gateway = await startGateway(
    (upstream) => ({
      providers: { brave: { base_url: `${upstream.url}/brave`, api_key: 'none' } },
      search: { price_usd: searchMicros / 1e6 },
      models: { ...Object.fromEntries(ofWires), ...models },
      ...settings,
    }),
    { clock },
  );
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
  return {
    gateway,
    clock,
    key,
    account,
    play: (wire, ...turns) => {
      const { paths, format } = wires[wire];
      const scripts = turns.map((turn) =>
        typeof turn === 'function' ? turn : played(format, turn),
      );
      for (const path of paths) gateway.upstream.on(path, ...(scripts as [Script]));
    },
    recordOf: async ({ requestId }) => (await gateway.usage<Json>(key, requestId))[0],
    heldMicros: async () => (await gateway.balance(account)).heldMicros,
    holdOf: async ({ requestId }) =>
      Number((await rowOf(gateway.database, 'charges', { id: requestId })).hold_micros),
    lossOf: async ({ requestId }) =>
      (await gateway.lossesOf(requestId)).reduce((sum, loss) => sum + loss, 0),
    firstRecord: async (own, meanwhile = () => {}) => {
      let record: Json | undefined;
      await until(async () => {
        meanwhile();
        await flushEventLoop();
        await clock.advance(500);
        [record] = await gateway.usage<Json>(own);
        return record !== undefined;
      });
      return record!;
    },
  };
}

/** Returns the response of a whole answer, or the last one of a stream. */
export function responseOf(reply: Reply, stream: boolean): Json {
  assert.equal(reply.status, 200, reply.text);
  return stream ? (reply.frames.at(-1)!.data as Json)['response'] : reply.json<Json>();
}
