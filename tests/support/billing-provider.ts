// A provider that keeps its own bill, as each of the hosts. It bills the input of each call, and the
// output written by the time the call ended, whether or not a client received it and
// however the call ended. It runs on the given clock.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../src/lib/clock.ts';
import { errorBodyOf, errorFrameOf } from './host-errors.ts';
import {
  asksForStream,
  encodeFrames,
  modelHosts,
  streamOf,
  streamType,
  wholeOf,
  type ModelHost,
} from './model-hosts.ts';
import type { Tokens } from './turn-format.ts';
import type { LocalUpstream, Script, SseFrame } from './upstream.ts';

/** How a call ends. */
export type CallOutcome =
  | 'answers'
  /** The model never runs, and nothing is sent. */
  | 'hangs'
  /** The usage has no input, no output, or is missing. */
  | 'counts no input'
  | 'counts no output'
  | 'counts nothing'
  /** Answers an error status before the model runs. */
  | 'refuses'
  /** After part of the answer. */
  | 'breaks off'
  | 'sends an error'
  /** The model goes on writing unseen: a whole answer, or thinking. A streamed text stops. */
  | 'falls silent'
  /** A whole answer with usage that cannot be parsed. */
  | 'answers nonsense';

export type CallPlan = {
  readonly outcome: CallOutcome;
  /** Time in a queue before the model runs. Nothing is sent and nothing is billed. */
  readonly queueMs: number;
  /** Thinking, written before the text. */
  readonly hiddenTokens: number;
  /** The text's length in words. */
  readonly words: number;
  readonly tokensPerSecond: number;
  /** Input beside the prompt, of code that the provider runs for an answer, if the request has it. */
  readonly codeTokens?: number;
  /** The provider's input count per word of the prompt. */
  readonly inputFactor: number;
  /** The share of the answer, 0 to 1, after which it breaks off or falls silent. */
  readonly until: number;
};

export type Bill = { readonly input: number; readonly output: number };

/** USD per million tokens: one input token costs one microdollar. */
const prices = { input: 1, output: 8 };

/** Tokens a second: from a slow local host to the fastest of 2026. */
export const speeds = [10, 25, 50, 100, 200, 500, 1_500] as const;
type Speed = (typeof speeds)[number];

export type BilledModel = {
  readonly name: string;
  readonly host: ModelHost;
  readonly thinks: boolean;
  readonly tokensPerSecond: Speed;
};

/**
 * For each host and speed a model that thinks, one that does not, and one with a second
 * route. All routes of a model have its speed.
 */
export const billedModels: readonly BilledModel[] = modelHosts.flatMap((host) =>
  speeds.flatMap((tokensPerSecond) =>
    ['thinks', 'plain', 'two'].map((kind) => ({
      name: `${kind}-${host.name}-${tokensPerSecond}`,
      host,
      thinks: kind === 'thinks',
      tokensPerSecond,
    })),
  ),
);

/** For the configuration. */
export function billedModelsConfig(): Readonly<Record<string, object>> {
  const entries = billedModels.map(({ name, host, thinks }) => {
    const next = modelHosts[(modelHosts.indexOf(host) + 1) % modelHosts.length]!;
    const model = {
      routes: [host, ...(name.startsWith('two') ? [next] : [])].map(({ route }) => ({
        ...route,
        model: name,
      })),
      max_input_tokens: 100_000,
      max_output_tokens: outputTokensMax,
      supports: { thinking: thinks },
      timeouts: { total_ms: 600_000 },
      prices,
    };
    return [name, model];
  });
  return Object.fromEntries(entries) as Record<string, object>;
}

/** Tokens per stream event: ten events a second, with at most ten tokens each. */
function tokensPerPieceOf({ tokensPerSecond }: CallPlan): number {
  return Math.min(Math.max(Math.round(tokensPerSecond / 10), 1), 10);
}
/** One token in any tokenizer, and four bytes with the space before it. */
const word = ' the';

export class BillingProvider {
  /** By the call name in the request's prompt. */
  readonly bills = new Map<string, Bill[]>();
  /** The same bills, by the credential of the call. */
  readonly byCredential = new Map<string, Bill[]>();
  readonly #running = new Map<string, number>();
  readonly #called = new Map<string, PromiseWithResolvers<void>>();
  readonly #plans = new Map<string, CallPlan[]>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Serves the models of `billedModels`. */
  serve(upstream: LocalUpstream): void {
    for (const host of modelHosts)
      for (const path of new Set(billedModels.flatMap(({ name }) => host.paths(name))))
        upstream.on(path, this.#script(host));
  }

  /** Plans the calls under a name, in order; the last plan repeats. */
  plan(name: string, plans: readonly CallPlan[]): void {
    this.#plans.set(name, [...plans]);
    this.bills.set(name, []);
    this.#called.set(name, Promise.withResolvers());
  }

  /** Resolves when the first call under the name arrives. */
  called(name: string): Promise<void> {
    return this.#called.get(name)!.promise;
  }

  /** True when every call under the name has ended and is billed. */
  isIdle(name: string): boolean {
    return (this.#running.get(name) ?? 0) === 0;
  }

  /** The bill of all calls under the name, in microdollars. */
  billedMicros(name: string): number {
    return sumOf(this.bills.get(name)!);
  }

  /** The bill of all calls with a credential, in microdollars. */
  billedToMicros(credential: string): number {
    return sumOf(this.byCredential.get(credential) ?? []);
  }

  #script(host: ModelHost): Script {
    return async (response, { path, body, headers }) => {
      const text = JSON.stringify(body);
      const name = /\[(e\d+)\]/.exec(text)![1]!;
      const plans = this.#plans.get(name)!;
      const plan = plans.length > 1 ? plans.shift()! : plans[0]!;
      const call = new Call(this.#clock, {
        host,
        plan,
        stream: asksForStream(path, text),
        input: Math.round(wordsIn(text) * plan.inputFactor),
        response,
      });
      this.#running.set(name, (this.#running.get(name) ?? 0) + 1);
      this.#called.get(name)!.resolve();
      const bill = await call.play();
      this.bills.get(name)!.push(bill);
      const { authorization = '', 'x-api-key': key, 'x-goog-api-key': googleKey } = headers;
      const credential = String(key ?? googleKey ?? authorization.replace('Bearer ', ''));
      this.byCredential.set(credential, [...(this.byCredential.get(credential) ?? []), bill]);
      this.#running.set(name, this.#running.get(name)! - 1);
    };
  }
}

function sumOf(bills: readonly Bill[]): number {
  return bills.reduce(
    (sum, bill) => sum + bill.input * prices.input + bill.output * prices.output,
    0,
  );
}

/** Tokens without spaces between them: four bytes each, like a word. */
function piecesOf(tokens: number, tokensPerPiece: number): string {
  const piece = (count: number) => ` ${'the,'.repeat(count).slice(0, -1)}`;
  return (
    piece(tokensPerPiece).repeat(Math.floor(tokens / tokensPerPiece)) +
    piece(tokens % tokensPerPiece)
  ).trim();
}

function wordsIn(text: string): number {
  return text.split(word).length - 1;
}

type CallOptions = {
  readonly host: ModelHost;
  readonly plan: CallPlan;
  readonly stream: boolean;
  readonly input: number;
  readonly response: ServerResponse;
};

class Call {
  readonly #clock: Clock;
  readonly #options: CallOptions;
  /** When the model begins to write. */
  readonly #startedAtMs: number;
  readonly #gone = new AbortController();

  constructor(clock: Clock, options: CallOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#startedAtMs = clock.elapsedMs() + options.plan.queueMs;
    options.response.on('close', () => this.#gone.abort());
    options.response.on('error', () => {});
  }

  /** Resolves to the bill when the call ends. */
  async play(): Promise<Bill> {
    const { host, plan, stream, response, input } = this.#options;
    if (plan.outcome === 'refuses') {
      response
        .writeHead(503, { 'content-type': 'application/json' })
        .end(errorBodyOf({ host }, 'busy'));
      return { input: 0, output: 0 };
    }
    if (plan.outcome === 'hangs') {
      await this.#untilGone();
      return { input: 0, output: 0 };
    }
    await this.#waitUntil(0);
    if (!this.#gone.signal.aborted) await (stream ? this.#playStream() : this.#playWhole());
    const hasRun = this.#endedAtMs >= this.#startedAtMs;
    return { input: hasRun ? input + this.#codeTokens : 0, output: this.#writtenTokens() };
  }

  /** Code runs before the end of an answer, which counts it. */
  get #codeTokens(): number {
    const { outcome, codeTokens = 0 } = this.#options.plan;
    return outcome.startsWith('answers') ? codeTokens : 0;
  }

  get #wholeTokens(): number {
    const { hiddenTokens, words } = this.#options.plan;
    return hiddenTokens + words;
  }

  /** So far, or in total. */
  #writtenTokens(): number {
    const { plan, stream } = this.#options;
    const { outcome, hiddenTokens, until, tokensPerSecond } = plan;
    const seconds = Math.max(this.#endedAtMs - this.#startedAtMs, 0) / 1_000;
    const byNow = Math.round(seconds * tokensPerSecond);
    if (outcome === 'falls silent' && (hiddenTokens > 0 || !stream))
      return Math.min(byNow, outputTokensMax);
    const stopsAt =
      outcome === 'falls silent' || outcome === 'breaks off' || outcome === 'sends an error'
        ? until
        : 1;
    return Math.min(byNow, Math.round(this.#wholeTokens * stopsAt));
  }

  #endedAtMs = 0;

  async #playWhole(): Promise<void> {
    const { plan, response } = this.#options;
    const stops =
      plan.outcome === 'breaks off' ||
      plan.outcome === 'sends an error' ||
      plan.outcome === 'falls silent';
    await this.#waitUntil(this.#wholeTokens * (stops ? plan.until : 1));
    if (plan.outcome === 'falls silent') await this.#untilGone();
    this.#end();
    if (response.destroyed) return;
    if (plan.outcome === 'breaks off')
      return void response
        .writeHead(200, { 'content-length': '1000' })
        .write('{', () => response.destroy());
    if (plan.outcome === 'sends an error')
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .write('{"id":', () => response.destroy());
    const body =
      plan.outcome === 'answers nonsense' ? this.#nonsense() : JSON.stringify(this.#wholeBody());
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  }

  async #playStream(): Promise<void> {
    const { host, plan, response, input } = this.#options;
    const { outcome, words, hiddenTokens, until } = plan;
    // JSON instead of a stream.
    if (outcome === 'answers nonsense') return this.#playWhole();
    const tokens = this.#toldTokens();
    const tokensPerPiece = tokensPerPieceOf(plan);
    const text = piecesOf(words, tokensPerPiece);
    const { start, end } = streamOf(host, { text, tokens });
    const { deltas } = streamOf(host, { text, tokens: null });
    response.writeHead(200, { 'content-type': streamType(host.framing) });
    response.write(encodeFrames(host.framing, start));
    const stopsAfter =
      outcome === 'answers' || outcome.startsWith('counts')
        ? Infinity
        : Math.round(this.#wholeTokens * until);
    for (let sent = 0; sent < words; sent += tokensPerPiece) {
      const frame = deltas[sent / tokensPerPiece]!;
      const shown = Math.min(sent + tokensPerPiece, words);
      const written = hiddenTokens + shown;
      if (written > stopsAfter) break;
      await this.#waitUntil(written);
      if (response.destroyed) return this.#end();
      const isCounted = host.wire === 'gemini' && !outcome.startsWith('counts');
      response.write(
        encodeFrames(host.framing, [
          isCounted ? withRunningCount(frame, { input, hiddenTokens, words: shown }) : frame,
        ]),
      );
    }
    if (stopsAfter !== Infinity) await this.#waitUntil(stopsAfter);
    if (outcome === 'falls silent') await this.#untilGone();
    this.#end();
    if (response.destroyed) return;
    if (outcome === 'breaks off') return void response.destroy();
    if (outcome === 'sends an error') {
      const error = errorFrameOf({ host }, 'the model broke down');
      return void response.end(encodeFrames(host.framing, [error]));
    }
    response.end(encodeFrames(host.framing, end));
  }

  #end(): void {
    if (this.#endedAtMs === 0) this.#endedAtMs = this.#clock.elapsedMs();
  }

  #toldTokens(): Tokens | null {
    const { plan, input } = this.#options;
    if (plan.outcome === 'counts nothing') return null;
    const output = plan.outcome === 'counts no output' ? 0 : this.#wholeTokens;
    return {
      input: plan.outcome === 'counts no input' ? 0 : input,
      output,
      toolUse: this.#codeTokens,
    };
  }

  #wholeBody(): object {
    const { host, plan } = this.#options;
    return wholeOf(host, { text: word.repeat(plan.words).trim(), tokens: this.#toldTokens() });
  }

  /** Nested too deeply to be forwarded, beside valid usage. */
  #nonsense(): string {
    return JSON.stringify({ ...this.#wholeBody(), extra: 'DEEP' }).replace(
      '"DEEP"',
      `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    );
  }

  /** Waits until the model has written this many tokens, or the client has left. */
  async #waitUntil(tokens: number): Promise<void> {
    const dueMs = this.#startedAtMs + (tokens / this.#options.plan.tokensPerSecond) * 1_000;
    await this.#clock.sleep(Math.max(dueMs - this.#clock.elapsedMs(), 0), this.#gone.signal);
    if (this.#gone.signal.aborted) this.#end();
  }

  async #untilGone(): Promise<void> {
    if (this.#gone.signal.aborted) return;
    await new Promise((resolve) =>
      this.#gone.signal.addEventListener('abort', resolve, { once: true }),
    );
  }
}

/** The largest output limit of any request here. */
export const outputTokensMax = 8_000;

type Running = { readonly input: number; readonly hiddenTokens: number; readonly words: number };

/** Gemini reports usage in every chunk. */
function withRunningCount(frame: SseFrame, { input, hiddenTokens, words }: Running): SseFrame {
  if (typeof frame === 'string') return frame;
  const usageMetadata = {
    promptTokenCount: input,
    thoughtsTokenCount: hiddenTokens,
    candidatesTokenCount: words,
  };
  return { ...frame, data: { ...(frame.data as object), usageMetadata } };
}
