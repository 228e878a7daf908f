// The frames of Responses over WebSocket: what a client's asks for, and those that are answered.
// https://platform.openai.com/docs/guides/websocket-mode (read 2026-11-28 as types of `openai`).
import type { IncomingHttpHeaders } from 'node:http';
import {
  ApiError,
  type ErrorContext,
  invalidRequest,
  quoted,
  refuseField,
} from '../../canonical/errors.ts';
import { clientFormats } from '../../formats/registry.ts';
import {
  isObject,
  type JsonObject,
  objectOf,
  parseJson,
  requestValuesMax,
} from '../../lib/json.ts';
import { largeBytes } from '../large-bodies.ts';

/** A response that the connection can go on from: its input and output, as items with commas between. */
export type Turn = { readonly id: string; readonly items: string };

export type CreateFrame = {
  /** Repeated in each frame of the answer; null: none. */
  readonly streamId: string | null;
  readonly previousId: unknown;
  readonly input: unknown;
  /** Of the body, without the input. */
  readonly fields: JsonObject;
};

/** Throws ApiError. */
export function readCreateFrame(data: Buffer): CreateFrame {
  const parsed = parseJson(data, { valuesMax: requestValuesMax });
  if (!parsed.ok) throw invalidRequest(null, `The frame cannot be read: ${parsed.message}.`);
  if (!isObject(parsed.value)) throw invalidRequest(null, 'The frame must be a JSON object.');
  const {
    type,
    stream_id: streamId = null,
    previous_response_id: previousId = null,
    generate = null,
    input = null,
    ...rest
  } = parsed.value;
  if (type !== 'response.create')
    throw invalidRequest(
      'type',
      `type must be \`response.create\`, the only one that is offered here; got ${quoted(type)}.`,
    );
  if (streamId !== null && !isLaneName(streamId))
    refuseField('stream_id', `must be a text of 1 to ${laneLengthMax} characters.`);
  const fields = { ...rest, stream: true, ...(generate === false && { generate }) };
  return { streamId, previousId, input, fields };
}

/**
 * Returns the answer to a frame that steers a running response, which is not offered here: its
 * input, for the next request. null: it is another frame.
 */
export function steerRefusal(data: Buffer): string | null {
  if (data.length >= largeBytes || !data.includes('"response.steer"')) return null;
  const parsed = parseJson(data);
  const { type, previous_response_id, input } = objectOf(parsed.ok ? parsed.value : null);
  if (type !== 'response.steer') return null;
  const error = {
    type: 'invalid_request_error',
    code: 'steering_not_supported',
    message:
      'A running response cannot be steered here. Send the input with the next `response.create`.',
  };
  const steer = { previous_response_id, input };
  return JSON.stringify({ type: 'response.steer.failed', sequence_number: 0, error, steer });
}

/**
 * Returns the body of `POST /v1/responses`, and its whole input as the items of a turn. `last`: the
 * turn that is kept. Throws ApiError `previous_response_not_found`.
 */
export function bodyOf(
  { previousId, input, fields }: CreateFrame,
  last: Turn | null,
): { readonly body: Buffer; readonly items: string } {
  const before = previousId === null ? '' : turnOf(previousId, last).items;
  // The endpoint refuses any other input, and the lack of one.
  const own = typeof input === 'string' || Array.isArray(input) ? itemsOf(input) : null;
  const items = joinItems(before, own ?? '');
  if (before === '' || (own === null && input !== null))
    return { body: Buffer.from(JSON.stringify({ ...fields, input })), items };
  const head = JSON.stringify(fields).slice(0, -1);
  return { body: Buffer.from(`${head},"input":[${items}]}`), items };
}

const laneLengthMax = 200;

function isLaneName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= laneLengthMax;
}

function turnOf(id: unknown, last: Turn | null): Turn {
  if (last && last.id === id) return last;
  throw new ApiError(
    'previous_response_not_found',
    `The response ${quoted(id)} is not kept: a connection keeps its last response only. Send the whole conversation in \`input\`, without \`previous_response_id\`.`,
    { param: 'previous_response_id' },
  );
}

function itemsOf(input: string | unknown[]): string {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  return JSON.stringify(items).slice(1, -1);
}

function joinItems(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(',');
}

/** Returns the turn that a stream's last event ends; null when it is no such event. */
export function turnAfter(event: string, data: string, input: string): Turn | null {
  if (event !== 'response.completed' && event !== 'response.incomplete') return null;
  const { response } = JSON.parse(data) as { response: { id: string; output: readonly unknown[] } };
  return { id: response.id, items: joinItems(input, itemsOf([...response.output])) };
}

/** Returns the frame of an event. Its data is a JSON object. */
export function eventFrame(data: string, streamId: string | null): string {
  return streamId === null ? data : `{"stream_id":${JSON.stringify(streamId)},${data.slice(1)}`;
}

/** An answer that is no stream. */
type Refusal = {
  readonly status: number;
  readonly error: unknown;
  readonly headers: IncomingHttpHeaders;
};

export function refusalOf(error: ApiError, context: ErrorContext): Refusal {
  const { status, retryAfterSeconds } = error;
  const retry = retryAfterSeconds === null ? null : { 'retry-after': String(retryAfterSeconds) };
  return {
    status,
    error: clientFormats.responses.writeError(error, context).error,
    headers: { 'x-request-id': context.requestId, ...retry },
  };
}

export function errorFrame({ status, error, headers }: Refusal, streamId: string | null): string {
  const shown = Object.entries(headers).filter(([name]) => shownHeaders.test(name));
  const frame = { type: 'error', status, error, headers: Object.fromEntries(shown) };
  return eventFrame(JSON.stringify(frame), streamId);
}

const shownHeaders = /^(?:x-|retry-after$|ratelimit)/;
