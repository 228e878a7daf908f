// Rules of a Responses stream: numbers, lifecycle, items one after the other, and a final response
// that repeats them. On the straight path the items are the upstream's own, so only texts and order
// are compared.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { StreamFacts, StreamReading } from './stream-rules.ts';
import {
  checkCost,
  checkError,
  readJson,
  type EventFrame,
  type Json,
} from './stream-rules-frames.ts';
import { ItemRules } from './stream-rules-item.ts';

const terminal = ['response.completed', 'response.incomplete', 'response.failed'];

export function checkResponses(
  frames: readonly EventFrame[],
  { straight = false }: StreamFacts,
): StreamReading {
  const events = frames.map(readEvent);
  const last = events.at(-1);
  assert.ok(last, 'an empty stream');
  assert.ok(terminal.includes(last['type']), `the last event ends the response: ${last['type']}`);
  const isFailed = last['type'] === 'response.failed';
  const stream = new ResponsesRules(straight);
  for (const event of events.slice(0, -1)) {
    assert.ok(!terminal.includes(event['type']), 'one event ends the response');
    stream.take(event);
  }
  if (isFailed) stream.fail(last['response'], events.at(-2));
  else stream.end(last);
  return { ending: isFailed ? 'error' : 'success', text: stream.text };
}

function readEvent(frame: EventFrame, index: number): Json {
  const event = readJson(frame);
  assert.equal(event['type'], frame.event, 'the event line names the type');
  assert.equal(event['sequence_number'], index, `numbers have no gaps: ${event['type']}`);
  return event;
}

class ResponsesRules {
  readonly #straight: boolean;
  readonly #done: Json[] = [];
  #events = 0;
  #response: Json | null = null;
  #open: ItemRules | null = null;
  #hasError = false;

  constructor(straight: boolean) {
    this.#straight = straight;
  }

  get text(): string {
    const content = this.#done.flatMap((item) =>
      item['type'] === 'message' ? (item['content'] as Json[]) : [],
    );
    return content.map((part) => part['text'] ?? '').join('');
  }

  take(event: Json): void {
    assert.ok(!this.#hasError, 'nothing but response.failed comes after an error');
    const opening = ['response.created', 'response.in_progress'][this.#events++];
    if (opening) return this.#begin(event, opening);
    switch (event['type']) {
      case 'response.output_item.added':
        return this.#openItem(event);
      case 'response.output_item.done':
        return this.#closeItem(event);
      case 'error':
        this.#hasError = true;
        return;
      default:
        return this.#takeOfItem(event);
    }
  }

  #begin({ type, response }: Json, opening: string): void {
    assert.equal(type, opening, 'a stream begins with created and in_progress');
    assert.equal(response.status, 'in_progress');
    assert.deepEqual(response.output, []);
    assert.equal(response.object, 'response');
    this.#checkIdentity(response);
    this.#response = response;
  }

  #openItem({ output_index: index, item }: Json): void {
    assert.equal(this.#open, null, 'items do not overlap');
    assert.equal(index, this.#done.length, 'items are numbered without gaps');
    assert.ok(!this.#done.some(({ id }) => id === item.id), `ids of items differ: ${item.id}`);
    this.#open = new ItemRules(item, this.#straight);
  }

  #closeItem({ output_index: index, item }: Json): void {
    assert.ok(this.#open, 'an item is done that was not added');
    assert.equal(index, this.#done.length, 'the item that is open is done');
    this.#open.end(item);
    this.#open = null;
    this.#done.push(item);
  }

  #takeOfItem(event: Json): void {
    if (!('output_index' in event))
      return assert.ok(this.#straight, `an event of no known type: ${event['type']}`);
    assert.ok(this.#open, `${event['type']} outside of an item`);
    assert.equal(event['output_index'], this.#done.length, `${event['type']} is of the open item`);
    this.#open.take(event);
  }

  end({ type, response }: Json): void {
    assert.ok(this.#events >= 2, 'a stream begins with created and in_progress');
    assert.ok(!this.#hasError, 'an error is followed by response.failed');
    assert.equal(this.#open, null, 'every item is done');
    assert.equal(`response.${response.status}`, type);
    this.#checkIdentity(response);
    const { input_tokens: input, output_tokens: output, total_tokens: total } = response.usage;
    assert.ok(Number.isInteger(input) && Number.isInteger(output), 'the usage is present');
    assert.equal(total, input + output);
    checkCost(response.usage);
    if (type === 'response.incomplete')
      assert.ok(response.incomplete_details?.reason, 'an incomplete response says why');
    this.#checkOutput(response.output);
  }

  #checkOutput(output: readonly Json[]): void {
    const final = this.#straight ? output.map(essence) : output;
    const done = this.#straight ? this.#done.map(essence) : this.#done;
    assert.ok(
      isDeepStrictEqual(final, done),
      `the final output is not the items that were done:\n${JSON.stringify([final, done])}`,
    );
  }

  /** A failed response keeps the items that were complete. */
  fail(response: Json, before: Json | undefined): void {
    assert.equal(response['status'], 'failed');
    checkError(response['error'], 'responses');
    assert.equal(
      before?.['type'],
      'error',
      'SDKs throw on the error event, Codex on response.failed',
    );
    this.#checkIdentity(response);
    this.#checkOutput(response['output']);
  }

  #checkIdentity({ id, model, created_at: createdAt }: Json): void {
    assert.ok(typeof id === 'string' && id !== '', 'a response has an id');
    if (this.#response)
      assert.deepEqual(
        [id, model, createdAt],
        identityOf(this.#response),
        'a response keeps its identity',
      );
  }
}

function identityOf({ id, model, created_at: createdAt }: Json): unknown[] {
  return [id, model, createdAt];
}

/** What must match when the upstream wrote both. */
function essence({ id, type, arguments: text, input, content }: Json): unknown {
  const parts = Array.isArray(content)
    ? (content as Json[]).map((part) => part['text'] ?? part['refusal'] ?? null)
    : null;
  return { id, type, text, input, parts };
}
