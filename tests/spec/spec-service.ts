// The service that the specification's statements are tested on: a gateway with its sandbox and a
// local upstream, on a manual clock, and one sample of each kind of answer, requested once.
import assert from 'node:assert/strict';
import { answerContent } from '../support/answers.ts';
import { endpoint, type Endpoint } from '../support/endpoints.ts';
import { startGateway, type KeyOptions, type TestGateway } from '../support/gateway.ts';
import { send, type Reply } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';

export type Json = Record<string, unknown>;

/** The proof of one statement. */
export type Proof = (service: SpecService) => unknown;
/**
 * Proofs by the specification's headings and statements, in its words. A table row is its cells,
 * joined by ` | `.
 */
export type Sections = Readonly<Record<string, Readonly<Record<string, Proof>>>>;

export const responses = endpoint('responses');
export const chat = endpoint('chat');
export const messages = endpoint('messages');
export const imagesPath = '/v1/images/generations';
export const searchPath = '/v1/web-search';
export const countPath = '/v1/messages/count_tokens';

export const weatherTool = {
  name: 'get_weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const calling = {
  input: 'Weather?\nsandbox: tool=get_weather {"city":"Paris"}',
  tools: [{ type: 'function', ...weatherTool }],
};
const thinking = { input: 'Hello!\nsandbox: think=A greeting.', reasoning: { effort: 'low' } };

export class SpecService {
  readonly clock: TestClock;
  readonly gateway: TestGateway<RunningApp>;
  readonly #samples = new Map<string, Promise<unknown>>();

  private constructor(gateway: TestGateway<RunningApp>, clock: TestClock) {
    this.gateway = gateway;
    this.clock = clock;
  }

  static async start(): Promise<SpecService> {
    const clock = new TestClock();
    const gateway = await startGateway({ aliases: { fast: 'gpt-6-luna' } }, { clock });
    // The upstream's answers for live keys.
    gateway.upstream.on(
      chat.upstreamPath,
      answerContent('chat', { text: 'yes', tokens: { input: 1_000, output: 100 } }),
    );
    return new SpecService(gateway, clock);
  }

  get testKey(): string {
    return this.gateway.program.firstTestKey;
  }

  async newKey(options: KeyOptions = {}): Promise<string> {
    return (await this.gateway.makeKey(options)).key;
  }

  get(path: string, key?: string): Promise<Reply> {
    return this.gateway.get(path, { key });
  }

  /** `key`: default a test key. */
  post(
    path: string,
    body: object,
    { key = this.testKey, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
  ) {
    return this.gateway.post(path, { key, headers, body });
  }

  chat(fields: object = {}, options?: Parameters<SpecService['post']>[2]) {
    return this.post(chat.path, chat.body(fields), options);
  }

  /** Sent without `Authorization`. */
  postAsStranger(path: string, body: object): Promise<Reply> {
    return send(this.gateway.url + path, { body });
  }

  async accepts({ path, body }: Endpoint, fields: object): Promise<Json> {
    const reply = await this.post(path, body(fields));
    assert.equal(reply.status, 200, `${JSON.stringify(fields)}: ${reply.text}`);
    return reply.json();
  }

  /** Checks that the error names the field, by default the only one. */
  async refuses(
    { path, body }: Pick<Endpoint, 'path' | 'body'>,
    fields: object,
    param = Object.keys(fields)[0],
  ): Promise<void> {
    const { status, error } = await this.post(path, body(fields));
    assert.deepEqual(
      [status, error.param],
      [400, param],
      `${JSON.stringify(fields)}: ${error.message}`,
    );
  }

  response(): Promise<Json> {
    return this.#sample('response', () => this.accepts(responses, {}));
  }

  responseWithCall(): Promise<Json> {
    return this.#sample('call', () => this.accepts(responses, calling));
  }

  responseWithReasoning(): Promise<Json> {
    return this.#sample('reasoning', () =>
      this.accepts(responses, { reasoning: { effort: 'low' } }),
    );
  }

  completion(): Promise<Json> {
    return this.#sample('completion', () => this.accepts(chat, {}));
  }

  message(): Promise<Json> {
    return this.#sample('message', () => this.accepts(messages, {}));
  }

  image(fields: object = {}): Promise<Reply> {
    return this.#sample(`image ${JSON.stringify(fields)}`, () =>
      this.post(imagesPath, {
        model: 'gpt-image-flare',
        prompt: 'a fox',
        size: '64x64',
        ...fields,
      }),
    );
  }

  models(): Promise<Json[]> {
    return this.#sample('models', async () => listOf(await this.get('/v1/models', this.testKey)));
  }

  /** Of the text models. */
  infos(): Promise<Json[]> {
    return this.#sample('infos', () => this.#allInfos());
  }

  imageModels(): Promise<Json[]> {
    return this.#sample('image models', async () =>
      (await this.#allInfos()).filter(({ type }) => type === 'image'),
    );
  }

  /** A key with one charged request, and its record. */
  usage(): Promise<{ readonly key: string; readonly reply: Reply; readonly record: Json }> {
    return this.#sample('usage', async () => {
      const key = await this.newKey();
      const reply = await this.post(chat.path, chat.body(), { key });
      const [record] = listOf(await this.get('/v1/usage', key));
      return { key, reply, record: record! };
    });
  }

  /** The events of a Responses stream. */
  events(
    kind: 'text' | 'call' | 'reasoning',
  ): Promise<{ readonly reply: Reply; readonly events: Json[] }> {
    return this.#sample(`events ${kind}`, async () => {
      const fields = { text: {}, call: calling, reasoning: thinking }[kind];
      const reply = await this.post(responses.path, responses.body({ ...fields, stream: true }));
      return {
        reply,
        events: reply.frames.filter(({ event }) => event !== null).map(({ data }) => data as Json),
      };
    });
  }

  async event(kind: 'text' | 'call' | 'reasoning', type: string): Promise<Json> {
    const found = (await this.events(kind)).events.find((event) => event['type'] === type);
    assert.ok(found, `no ${type}`);
    return found;
  }

  stop(): Promise<void> {
    return this.gateway.stop();
  }

  async #allInfos(): Promise<Json[]> {
    return listOf(await this.get('/v1/models/info', this.testKey));
  }

  #sample<Sample>(name: string, make: () => Promise<Sample>): Promise<Sample> {
    const known = this.#samples.get(name) ?? make();
    this.#samples.set(name, known);
    return known as Promise<Sample>;
  }
}

export function listOf(reply: Reply): Json[] {
  assert.equal(reply.status, 200, reply.text);
  return reply.json<{ data: Json[] }>().data;
}

// ── What fields hold ──

export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === 'string' && value !== '';
export const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
export const isFlag: Check = (value) => typeof value === 'boolean';
export const isPrice: Check = (value) => typeof value === 'number' && value >= 0;
/** Whole seconds since 1970. */
export const isSeconds: Check = (value) =>
  isCount(value) && Number(value) > 1_000_000_000 && Number(value) < 10_000_000_000;

export function is(wanted: unknown): Check {
  return (value) => value === wanted;
}

/** Proves the statements about fields, whose names are their first cells. */
export function fieldsOf(
  sample: (service: SpecService) => Promise<Json | Json[]>,
  checks: Readonly<Record<string, Check>>,
): Record<string, Proof> {
  const proofs = Object.entries(checks).map(([statement, check]): [string, Proof] => {
    const name = statement.split(' | ')[0]!.replace('data[].', '');
    return [
      statement,
      async (service) => {
        const objects = [await sample(service)].flat();
        assert.ok(objects.length > 0);
        for (const object of objects)
          assert.ok(check(object[name]), `${name} is ${JSON.stringify(object[name])}`);
      },
    ];
  });
  return Object.fromEntries(proofs);
}

/** Proves that these values of fields are accepted, and those refused with the field's name. */
export function takes(at: Endpoint, good: readonly object[], bad: readonly object[] = []): Proof {
  return async (service) => {
    for (const fields of good) await service.accepts(at, fields);
    for (const fields of bad) await service.refuses(at, fields);
  };
}

/** Proves the status and, if given, the error's code. */
export async function answers(asked: Promise<Reply>, status: number, code?: string): Promise<void> {
  const reply = await asked;
  assert.equal(reply.status, status, reply.text);
  if (code !== undefined) assert.equal(reply.error.code, code);
}

export const dayMs = 24 * 60 * 60_000;

/** Proves that the same request is answered again, free, for that time and not after it. */
function repeatsFor(
  ms: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Proof {
  return async (service) => {
    const key = await service.newKey();
    const ask = async () => {
      const reply = await service.chat(body, { key, headers });
      return { id: reply.json()['id'], isFree: reply.costMicros === 0 };
    };
    const { id } = await ask();
    service.clock.jumpTo(service.clock.nowMs() + ms - 1_000);
    assert.deepEqual(await ask(), { id, isFree: true });
    service.clock.jumpTo(service.clock.nowMs() + 2_000);
    const later = await ask();
    assert.ok(later.id !== id && !later.isFree);
  };
}

export const replaysForDay = repeatsFor(dayMs, {}, { 'idempotency-key': 'for a day' });
export const cachesForWeek = repeatsFor(7 * dayMs, { temperature: 0 });
export const takesMaxTokens = takes(
  { ...chat, body: (fields) => chat.body({ max_completion_tokens: undefined, ...fields }) },
  [{ max_tokens: 2_048 }],
  [{ max_tokens: 2_049 }],
);
export const takesTemperature = (at: Endpoint, max: number) =>
  takes(
    at,
    [{ temperature: 0 }, { temperature: max }],
    [{ temperature: max + 0.01 }, { temperature: -0.01 }],
  );
