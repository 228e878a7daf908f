// Reads the events of ConverseStream, or those made of a whole answer. The usage follows the stop reason
// and ends the answer.
import { eventsOfPart } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { mergeUsage, type Usage } from '../../canonical/usage.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { parseEventData } from '../event-data.ts';
import { EventReader } from '../event-reader.ts';
import { type StreamReader, UnreadableAnswer } from '../format.ts';
import { brokenStream, unreadableEvent } from '../stream-progress.ts';
import { isBrokenOff, readStop } from './stop.ts';
import { readUsage } from './usage.ts';

type OpenBlock =
  | { readonly kind: 'text' | 'other' }
  | { readonly kind: 'tool-call'; hasInput: boolean }
  | { readonly kind: 'thinking'; signature: string };

export function readStream(): StreamReader {
  return new AnswerReader();
}

export class AnswerReader extends EventReader {
  #open: OpenBlock | null = null;
  #hasStarted = false;
  #stopReason: string | null = null;
  #trace: unknown = undefined;
  usageSoFar: Usage | null = null;

  get hasStopped(): boolean {
    return this.#stopReason !== null;
  }

  get isComplete(): boolean {
    return this.hasStopped && this.usageSoFar !== null;
  }

  protected read({ event, data }: SseEvent): readonly StreamEvent[] {
    if (data === '') return [];
    const parsed = parseEventData(data);
    return isObject(parsed) ? this.readNamed(event, parsed) : this.fail(unreadableEvent(data));
  }

  protected close(): readonly StreamEvent[] {
    return this.hasStopped ? this.finish() : this.fail(brokenStream());
  }

  /** Throws UnreadableAnswer on a call without a name. */
  readNamed(name: string, event: JsonObject): StreamEvent[] {
    // Events after the stop reason are not part of the answer, except for the usage.
    if (this.hasStopped && name !== 'metadata') return [];
    switch (name) {
      case 'messageStart':
        return this.#start();
      case 'contentBlockStart':
        return [...this.#start(), ...this.#closeBlock(), ...this.#openBlock(event['start'])];
      case 'contentBlockDelta':
        return [...this.#start(), ...this.#readDelta(event['delta'])];
      case 'contentBlockStop':
        return this.#closeBlock();
      case 'messageStop':
        if (typeof event['stopReason'] === 'string') this.#stopReason = event['stopReason'];
        return this.#closeBlock();
      case 'metadata':
        this.usageSoFar = mergeUsage(this.usageSoFar, readUsage(event));
        this.#trace = event['trace'];
        return [];
      default:
        return [];
    }
  }

  /** Returns the rest of the answer. Throws UnreadableAnswer when the model broke off. */
  finish(): StreamEvent[] {
    if (isBrokenOff(this.#stopReason))
      throw new UnreadableAnswer(`the model broke off: ${this.#stopReason}`, this.#stopReason);
    this.hasEnded = true;
    const stop = readStop(this.#stopReason, this.#trace);
    return [
      ...this.#start(),
      ...this.#closeBlock(),
      { type: 'finish', stop, usage: this.usageSoFar },
    ];
  }

  #start(): StreamEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [{ type: 'start', usage: null }];
  }

  /** Only calls have a start; text and reasoning begin with their first delta. */
  #openBlock(start: unknown): StreamEvent[] {
    const call = objectOf(start)['toolUse'];
    // A tool that the host runs itself was not asked for, and no client could answer it.
    if (!isObject(call) || call['type'] === 'server_tool_use') {
      this.#open = isObject(call) ? { kind: 'other' } : null;
      return [];
    }
    const { toolUseId: id, name } = call;
    if (typeof id !== 'string' || typeof name !== 'string' || name === '')
      throw new UnreadableAnswer('a call of the answer has no name');
    this.#open = { kind: 'tool-call', hasInput: false };
    return [{ type: 'tool-call-start', id, name, kind: 'function' }];
  }

  #readDelta(delta: unknown): StreamEvent[] {
    if (!isObject(delta)) return [];
    const { text, toolUse, reasoningContent: reasoning } = delta;
    if (typeof text === 'string' && text !== '')
      return [...this.#ensure('text'), { type: 'text-delta', text }];
    if (isObject(reasoning)) return this.#readReasoning(reasoning);
    const input = objectOf(toolUse)['input'];
    if (typeof input !== 'string' || input === '' || this.#open?.kind !== 'tool-call') return [];
    this.#open.hasInput = true;
    return [{ type: 'tool-call-delta', text: input }];
  }

  #readReasoning({ text, signature, redactedContent }: JsonObject): StreamEvent[] {
    if (typeof redactedContent === 'string') {
      // The bytes of Anthropic's own text, which Claude also takes at other hosts.
      const value = Buffer.from(redactedContent, 'base64').toString('latin1');
      const ended = this.#closeBlock();
      if (value === '') return ended;
      const hidden = { vendor: 'anthropic', value } as const;
      return [
        ...ended,
        ...eventsOfPart({ type: 'thinking', text: '', signature: hidden, redacted: true }),
      ];
    }
    const events = this.#ensure('thinking');
    if (typeof signature === 'string' && this.#open?.kind === 'thinking')
      this.#open.signature += signature;
    if (typeof text === 'string' && text !== '') events.push({ type: 'thinking-delta', text });
    return events;
  }

  #ensure(kind: 'text' | 'thinking'): StreamEvent[] {
    if (this.#open?.kind === kind) return [];
    const ended = this.#closeBlock();
    this.#open = kind === 'text' ? { kind } : { kind, signature: '' };
    const start: StreamEvent =
      kind === 'text' ? { type: 'text-start' } : { type: 'thinking-start', redacted: false };
    return [...ended, start];
  }

  #closeBlock(): StreamEvent[] {
    const open = this.#open;
    this.#open = null;
    switch (open?.kind) {
      case 'text':
        return [{ type: 'text-end' }];
      case 'tool-call':
        // A call without arguments has no delta.
        return [
          ...(open.hasInput ? [] : [{ type: 'tool-call-delta', text: '{}' } as const]),
          { type: 'tool-call-end' },
        ];
      case 'thinking': {
        const end = { type: 'thinking-end' } as const;
        if (open.signature === '') return [end];
        // Claude is the only model on Bedrock that signs its reasoning.
        const signature = { vendor: 'anthropic', value: open.signature } as const;
        return [{ type: 'thinking-signature', signature }, end];
      }
      default:
        return [];
    }
  }
}
