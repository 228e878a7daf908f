// A provider that keeps a bill of its own, in all four wire formats: of every call what it has read, and what its model has written when
// the call ended, seen or not, whoever ended it and whatever became of the answer. It lives by the test's clock.
import type { ServerResponse } from 'node:http';
import { streamFrames, wholeAnswer, type Tokens, type UpstreamWireName } from './answers.ts';
import type { TestClock } from './test-clock.ts';
import { framesText, type Script, type SseFrame } from './upstream.ts';

/** What becomes of a call. */
export type Fate =
  | 'answers'
  /** Its usage has no input, no output, or is missing. */
  | 'counts no input'
  | 'counts no output'
  | 'counts nothing'
  /** A status, before anything has run. */
  | 'refuses'
  /** After some of the answer. */
  | 'breaks off'
  | 'sends an error'
  /** What is written unseen goes on: an answer that comes whole, or the thoughts of a model. What is streamed has stopped. */
  | 'falls silent'
  /** A whole answer with its usage, of which nobody can make anything. */
  | 'answers nonsense';

export type CallPlan = {
  readonly fate: Fate;
  /** Written before the text. */
  readonly hiddenTokens: number;
  /** Words of the text. */
  readonly words: number;
  readonly tokensPerSecond: number;
  /** The provider's own count, beside the bytes that it was sent. */
  readonly inputFactor: number;
  /** After which part of the answer it breaks off or falls silent, from 0 to 1. */
  readonly until: number;
};

export type Bill = { readonly input: number; readonly output: number };

/** Tokens of one piece of a stream. */
const tokensPerPiece = 10;
/** One token by any tokenizer's measure, and four bytes with the space before it. */
const word = ' the';

export class BillingProvider {
  /** By the name that the request carries in its prompt. */
  readonly bills = new Map<string, Bill[]>();
  readonly #running = new Map<string, number>();
  readonly #called = new Map<string, PromiseWithResolvers<void>>();
  readonly #plans = new Map<string, CallPlan[]>();
  readonly #clock: TestClock;

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  /** The calls to expect under a name, in order; the last plan stays. */
  plan(name: string, plans: readonly CallPlan[]): void {
    this.#plans.set(name, [...plans]);
    this.bills.set(name, []);
    this.#called.set(name, Promise.withResolvers());
  }

  /** Resolves when the first call under the name has come. */
  called(name: string): Promise<void> {
    return this.#called.get(name)!.promise;
  }

  /** Whether every call under the name is over, and billed. */
  isIdle(name: string): boolean {
    return (this.#running.get(name) ?? 0) === 0;
  }

  script(wire: UpstreamWireName): Script {
    return async (response, { path, body }) => {
      const text = JSON.stringify(body);
      const name = /\[(e\d+)\]/.exec(text)![1]!;
      const plans = this.#plans.get(name)!;
      const plan = plans.length > 1 ? plans.shift()! : plans[0]!;
      const stream = path.endsWith(':streamGenerateContent') || (body as { stream?: boolean }).stream === true;
      const call = new Call(this.#clock, { wire, plan, stream, input: Math.round(wordsIn(text) * plan.inputFactor), response });
      this.#running.set(name, (this.#running.get(name) ?? 0) + 1);
      this.#called.get(name)!.resolve();
      this.bills.get(name)!.push(await call.play());
      this.#running.set(name, this.#running.get(name)! - 1);
    };
  }
}

function wordsIn(text: string): number {
  return text.split(word).length - 1;
}

type CallOptions = {
  readonly wire: UpstreamWireName;
  readonly plan: CallPlan;
  readonly stream: boolean;
  readonly input: number;
  readonly response: ServerResponse;
};

class Call {
  readonly #clock: TestClock;
  readonly #options: CallOptions;
  readonly #startedAtMs: number;
  readonly #gone = new AbortController();

  constructor(clock: TestClock, options: CallOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#startedAtMs = clock.elapsedMs();
    options.response.on('close', () => this.#gone.abort());
    options.response.on('error', () => {});
  }

  /** Resolves to what is billed, when the call is over. */
  async play(): Promise<Bill> {
    const { plan, stream, response, input } = this.#options;
    if (plan.fate === 'refuses') {
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}');
      return { input: 0, output: 0 };
    }
    await (stream ? this.#playStream() : this.#playWhole());
    return { input, output: this.#writtenTokens() };
  }

  get #wholeTokens(): number {
    const { hiddenTokens, words } = this.#options.plan;
    return hiddenTokens + words;
  }

  /** By now, or in all. */
  #writtenTokens(): number {
    const { plan, stream } = this.#options;
    const { fate, hiddenTokens, until, tokensPerSecond } = plan;
    const seconds = (this.#endedAtMs - this.#startedAtMs) / 1_000;
    const byNow = Math.round(seconds * tokensPerSecond);
    if (fate === 'falls silent' && (hiddenTokens > 0 || !stream)) return Math.min(byNow, outputTokensMax);
    const stopsAt = fate === 'falls silent' || fate === 'breaks off' || fate === 'sends an error' ? until : 1;
    return Math.min(byNow, Math.round(this.#wholeTokens * stopsAt));
  }

  #endedAtMs = 0;

  async #playWhole(): Promise<void> {
    const { plan, response } = this.#options;
    const stops = plan.fate === 'breaks off' || plan.fate === 'sends an error' || plan.fate === 'falls silent';
    await this.#waitUntil(this.#wholeTokens * (stops ? plan.until : 1));
    if (plan.fate === 'falls silent') await this.#untilGone();
    this.#end();
    if (response.destroyed) return;
    if (plan.fate === 'breaks off')
      return void response.writeHead(200, { 'content-length': '1000' }).write('{', () => response.destroy());
    if (plan.fate === 'sends an error')
      return void response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":', () => response.destroy());
    const body = plan.fate === 'answers nonsense' ? this.#nonsense() : JSON.stringify(this.#wholeBody());
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  }

  async #playStream(): Promise<void> {
    const { wire, plan, response, input } = this.#options;
    const { fate, words, hiddenTokens, until } = plan;
    // JSON in place of a stream.
    if (fate === 'answers nonsense') return this.#playWhole();
    const tokens = this.#toldTokens();
    const text = word.repeat(words).trim();
    const { start, end } = streamFrames(wire, { text, tokens });
    const { deltas } = streamFrames(wire, { text, tokens: null });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText(start));
    const stopsAfter = fate === 'answers' || fate.startsWith('counts') ? Infinity : Math.round(this.#wholeTokens * until);
    for (let sent = 0; sent < words; sent += tokensPerPiece) {
      const piece = deltas.slice(sent, sent + tokensPerPiece);
      const written = hiddenTokens + sent + piece.length;
      if (written > stopsAfter) break;
      await this.#waitUntil(written);
      if (response.destroyed) return this.#end();
      const running =
        wire === 'gemini' && !fate.startsWith('counts')
          ? piece.map((frame) => withRunningCount(frame, { input, hiddenTokens, words: sent + piece.length }))
          : piece;
      response.write(framesText(running));
    }
    if (stopsAfter !== Infinity) await this.#waitUntil(stopsAfter);
    if (fate === 'falls silent') await this.#untilGone();
    this.#end();
    if (response.destroyed) return;
    if (fate === 'breaks off') return void response.destroy();
    if (fate === 'sends an error') return void response.end(errorFrame(wire));
    response.end(framesText(end));
  }

  #end(): void {
    if (this.#endedAtMs === 0) this.#endedAtMs = this.#clock.elapsedMs();
  }

  #toldTokens(): Tokens | null {
    const { plan, input } = this.#options;
    if (plan.fate === 'counts nothing') return null;
    const output = plan.fate === 'counts no output' ? 0 : this.#wholeTokens;
    return { input: plan.fate === 'counts no input' ? 0 : input, output };
  }

  #wholeBody(): object {
    const { wire, plan } = this.#options;
    return wholeAnswer(wire, { text: word.repeat(plan.words).trim(), tokens: this.#toldTokens() });
  }

  /** Nested deeper than anybody can pass on, beside its usage. */
  #nonsense(): string {
    return JSON.stringify({ ...this.#wholeBody(), extra: 'DEEP' }).replace('"DEEP"', `${'['.repeat(5_000)}${']'.repeat(5_000)}`);
  }

  /** Until the model has written so many tokens, or the client has gone. */
  async #waitUntil(tokens: number): Promise<void> {
    const dueMs = this.#startedAtMs + (tokens / this.#options.plan.tokensPerSecond) * 1_000;
    await this.#clock.sleep(dueMs - this.#clock.elapsedMs(), this.#gone.signal);
    if (this.#gone.signal.aborted) this.#end();
  }

  async #untilGone(): Promise<void> {
    if (this.#gone.signal.aborted) return;
    await new Promise((resolve) => this.#gone.signal.addEventListener('abort', resolve, { once: true }));
  }
}

/** The most that any request here asks for. */
export const outputTokensMax = 8_000;

type Running = { readonly input: number; readonly hiddenTokens: number; readonly words: number };

/** As Gemini counts in every chunk. */
function withRunningCount(frame: SseFrame, { input, hiddenTokens, words }: Running): SseFrame {
  if (typeof frame === 'string') return frame;
  const usageMetadata = { promptTokenCount: input, thoughtsTokenCount: hiddenTokens, candidatesTokenCount: words };
  return { ...frame, data: { ...(frame.data as object), usageMetadata } };
}

function errorFrame(wire: UpstreamWireName): string {
  const error = { type: 'server_error', message: 'the model broke down', code: 'server_error', status: 'INTERNAL' };
  if (wire === 'responses')
    return framesText([{ event: 'response.failed', data: { type: 'response.failed', response: { status: 'failed', error } } }]);
  if (wire === 'messages') return framesText([{ event: 'error', data: { type: 'error', error } }]);
  return framesText([{ data: { error } }]);
}
