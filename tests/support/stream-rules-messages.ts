// Rules of a Messages stream. They hold on the straight path too, except that unknown kinds of
// blocks are not checked there.
import assert from 'node:assert/strict';
import type { StreamFacts, StreamReading } from './stream-rules.ts';
import {
  checkCost,
  checkError,
  readJson,
  type EventFrame,
  type Json,
} from './stream-rules-frames.ts';

export function checkMessages(
  frames: readonly EventFrame[],
  { straight = false }: StreamFacts,
): StreamReading {
  const events = frames.map(readEvent).filter((event) => event['type'] !== 'ping');
  const last = events.at(-1);
  assert.ok(last, 'an empty stream');
  const stream = new MessagesRules(straight);
  for (const event of events.slice(0, -1)) {
    assert.ok(!['message_stop', 'error'].includes(event['type']), `${event['type']} comes last`);
    stream.take(event);
  }
  if (last['type'] === 'error') checkError(last['error'], 'messages');
  else stream.end(last);
  return { ending: last['type'] === 'error' ? 'error' : 'success', text: stream.text };
}

function readEvent(frame: EventFrame): Json {
  const event = readJson(frame);
  assert.equal(event['type'], frame.event, 'the event line names the type');
  return event;
}

/** By kind of block. Blocks of server-side tools are complete at their start. */
const deltasOf: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
  web_search_tool_result: [],
  mcp_tool_use: ['input_json_delta'],
};

type Block = { readonly type: string; readonly start: Json; input: string; hasSignature: boolean };

class MessagesRules {
  text = '';
  readonly #straight: boolean;
  readonly #kinds: string[] = [];
  readonly #toolIds = new Set<unknown>();
  #hasStarted = false;
  #blocks = 0;
  #open: Block | null = null;
  #stopReason: unknown = null;

  constructor(straight: boolean) {
    this.#straight = straight;
  }

  take(event: Json): void {
    assert.equal(
      event['type'] === 'message_start',
      !this.#hasStarted,
      `message_start comes first, and once: ${event['type']}`,
    );
    switch (event['type']) {
      case 'message_start':
        return this.#start(event['message']);
      case 'content_block_start':
        return this.#openBlock(event);
      case 'content_block_delta':
        return this.#delta(event);
      case 'content_block_stop':
        return this.#close(event);
      case 'message_delta':
        return this.#finish(event);
      default:
        assert.ok(this.#straight, `an event of no known type: ${event['type']}`);
    }
  }

  end({ type }: Json): void {
    assert.equal(type, 'message_stop', 'message_stop comes last');
    assert.ok(typeof this.#stopReason === 'string', 'message_delta tells the stop reason');
  }

  #start(message: Json): void {
    this.#hasStarted = true;
    const { content, stop_reason: stopReason, usage, ...head } = message;
    assert.deepEqual(
      [content, stopReason ?? null, head['type'], head['role']],
      [[], null, 'message', 'assistant'],
    );
    assert.match(head['id'], /^[\w-]+$/);
    const {
      input_tokens: input,
      cache_read_input_tokens: read = 0,
      cache_creation_input_tokens: written = 0,
    } = usage;
    assert.ok(input + read + written > 0, 'context meters read the input from message_start');
    assert.ok(Number.isInteger(usage.output_tokens ?? 0));
  }

  #openBlock({ index, content_block: block }: Json): void {
    assert.equal(this.#open, null, 'blocks do not overlap');
    assert.equal(this.#stopReason, null, 'no block comes after the stop reason');
    assert.equal(index, this.#blocks, 'blocks are numbered without gaps');
    this.#blocks++;
    this.#open = { type: block.type, start: block, input: '', hasSignature: false };
    this.#kinds.push(block.type);
    if (block.type === 'tool_use') this.#checkTool(block);
    else
      assert.ok(
        this.#straight || block.type in deltasOf,
        `a block of no known kind: ${block.type}`,
      );
    if (!this.#straight) this.#checkEmpty(block);
  }

  #checkTool({ id, name, input }: Json): void {
    assert.ok(
      typeof id === 'string' && id !== '' && typeof name === 'string' && name !== '',
      'a call has an id and a name',
    );
    assert.ok(!this.#toolIds.has(id), 'ids of calls differ');
    this.#toolIds.add(id);
    assert.ok(
      this.#straight || Object.keys(input).length === 0,
      'the input of a call comes in its deltas',
    );
  }

  /** SDKs append the deltas to the start's content. */
  #checkEmpty(block: Json): void {
    for (const field of ['text', 'thinking', 'signature'])
      assert.equal(block[field] ?? '', '', `a block starts empty: ${field}`);
    if (block['type'] === 'redacted_thinking')
      assert.ok(block['data'].length > 0, 'redacted thinking is whole in its start');
  }

  #delta({ index, delta }: Json): void {
    const open = this.#open;
    assert.ok(open, 'a delta outside of a block');
    assert.equal(index, this.#blocks - 1, 'a delta is of the open block');
    const allowed = deltasOf[open.type];
    if (allowed)
      assert.ok(allowed.includes(delta.type), `${delta.type} in a block of kind ${open.type}`);
    if (delta.type === 'thinking_delta')
      assert.ok(!open.hasSignature, 'no thinking comes after its signature');
    if (delta.type === 'signature_delta') open.hasSignature = true;
    if (delta.type === 'input_json_delta') open.input += delta.partial_json;
    if (delta.type === 'text_delta') this.text += delta.text;
  }

  #close({ index }: Json): void {
    assert.ok(this.#open, 'a stop without a start');
    assert.equal(index, this.#blocks - 1, 'a stop is of the open block');
    if (this.#straight && typeof this.#open.start['text'] === 'string')
      this.text += this.#open.start['text'];
    this.#open = null;
  }

  /** Anthropic sends one. It is cumulative, so more would do no harm. */
  #finish({ delta, usage }: Json): void {
    assert.equal(this.#open, null, 'message_delta comes after the last block');
    this.#stopReason = delta.stop_reason ?? this.#stopReason;
    assert.ok(Number.isInteger(usage.output_tokens), 'message_delta counts the output');
    if (this.#stopReason !== null) checkCost(usage);
    if (this.#stopReason === 'tool_use')
      assert.ok(this.#kinds.includes('tool_use'), 'a stop for a call without a call');
  }
}
