// Reads HTTP answers completely, and checks that they say what the upstream said.
import { answerText, chatUsage, deltaTexts } from '../bodies.ts';
import type { PeerPlay } from './peer.ts';

export type Answer = {
  readonly status: number;
  readonly body: string;
  readonly firstByteAtMs: number;
};

const lineEnd = '\r\n';

/** Collects one answer, whose body has a length or is chunked. Trailers are skipped. */
export class AnswerReader {
  #unread: Buffer = Buffer.alloc(0);
  #body: Buffer[] = [];
  #head: string | null = null;
  #firstByteAtMs = 0;
  /** Bytes left of the body or of the chunk; null before a chunk's size, -1 in the trailers. */
  #left: number | null = null;
  #chunked = false;

  /** Returns the answer when these bytes complete it. */
  push(bytes: Buffer): Answer | null {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    if (this.#head === null && !this.#readHead()) return null;
    if (this.#firstByteAtMs === 0 && this.#unread.length > 0)
      this.#firstByteAtMs = performance.now();
    if (!(this.#chunked ? this.#readChunks() : this.#readBytes())) return null;
    return {
      status: Number(this.#head!.split(' ', 2)[1]),
      body: Buffer.concat(this.#body).toString(),
      firstByteAtMs: this.#firstByteAtMs,
    };
  }

  #readHead(): boolean {
    const end = this.#unread.indexOf(lineEnd + lineEnd);
    if (end === -1) return false;
    this.#head = this.#take(end + 4).toString('latin1');
    this.#chunked = /\r\ntransfer-encoding: *chunked/i.test(this.#head);
    if (this.#chunked) return true;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1];
    if (length === undefined) throw new Error('an answer without a length');
    this.#left = Number(length);
    return true;
  }

  #readChunks(): boolean {
    while (this.#left !== -1) {
      if (this.#left === null) {
        const line = this.#takeLine();
        if (line === null) return false;
        const size = Number.parseInt(line, 16);
        if (Number.isNaN(size)) throw new Error(`not the size of a chunk: ${line.slice(0, 40)}`);
        this.#left = size === 0 ? -1 : size;
      } else {
        // The chunk's last byte is followed by an empty line.
        if (!this.#readBytes() || this.#unread.length < 2) return false;
        this.#take(2);
        this.#left = null;
      }
    }
    for (let line = this.#takeLine(); line !== null; line = this.#takeLine())
      if (line === '') return true;
    return false;
  }

  #readBytes(): boolean {
    if (this.#left === 0) return true;
    const part = this.#take(this.#left!);
    this.#body.push(part);
    this.#left! -= part.length;
    return this.#left === 0;
  }

  #take(length: number): Buffer {
    const taken = this.#unread.subarray(0, length);
    this.#unread = this.#unread.subarray(length);
    return taken;
  }

  #takeLine(): string | null {
    const end = this.#unread.indexOf(lineEnd);
    if (end === -1) return null;
    return this.#take(end + 2).toString('latin1', 0, end);
  }
}

/** Returns what is wrong with an answer; null if it is complete and in order. */
export function faultOf(play: PeerPlay, { status, body }: Answer): string | null {
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`;
  try {
    return play === 'whole' ? faultOfWhole(body) : faultOfStream(body);
  } catch (error) {
    return `${String(error)} in ${body.slice(0, 200)}`;
  }
}

type Choice<Part extends string> = Readonly<Record<Part, { readonly content?: string | null }>> & {
  readonly finish_reason?: string | null;
};

function faultOfWhole(body: string): string | null {
  const { choices, usage } = JSON.parse(body) as {
    readonly choices: readonly Choice<'message'>[];
    readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  };
  if (choices[0]?.message.content !== answerText) return 'another text';
  if (choices[0].finish_reason !== 'stop') return 'no finish reason';
  return usage.prompt_tokens === chatUsage.inputTokens &&
    usage.completion_tokens === chatUsage.outputTokens
    ? null
    : 'another usage';
}

/** Every delta must be an event of its own, with its own text, in order. */
function faultOfStream(body: string): string | null {
  const events = body.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
  if (events.pop() !== '[DONE]') return 'no end';
  let next = 0;
  let finished = false;
  for (const event of events) {
    const { choices } = JSON.parse(event) as { readonly choices?: readonly Choice<'delta'>[] };
    const [choice] = choices ?? [];
    const text = choice?.delta?.content ?? '';
    if (choice?.finish_reason === 'stop') finished = true;
    if (text === '') continue;
    if (text !== deltaTexts[next]) return `chunk ${next} is ${JSON.stringify(text)}`;
    next += 1;
  }
  if (next !== deltaTexts.length) return `${next} chunks`;
  return finished ? null : 'no finish reason';
}
