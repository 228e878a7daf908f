// All known upstream failures, as rows: what the upstream sends (tests/support/fault-server.ts),
// and what the client must get. tests/integration/fault-table.test.ts runs each one on every pair
// of formats.
import { gzipSync } from 'node:zlib';
import {
  begunFramesOf,
  bytesOf,
  chunkedAnswer,
  chunks,
  framesOf,
  goodAnswer,
  httpAnswer,
  openChunkedAnswer,
  playGood,
  typeOf,
  wholeText,
  type FaultCall,
  type PlayFault,
} from './fault-server.ts';
import type { ModelHost } from './model-hosts.ts';
import type { SseFrame } from './upstream.ts';
import { binaryFaults } from './binary-faults.ts';
import { echoFaults } from './echo-faults.ts';
import { errorBodyOf, errorFrameOf } from './host-errors.ts';
import { usageFaults } from './usage-faults.ts';

/** What the expected result depends on, beside the fault. */
type FaultContext = {
  readonly host: ModelHost;
  readonly stream: boolean;
  readonly straight: boolean;
};

export type ErrorCode =
  | 'upstream_error'
  | 'upstream_unavailable'
  | 'upstream_timeout'
  | 'invalid_request';

/**
 * Charged tokens: disjoint counts, or our own count (a token per four bytes) of both input and
 * output, or of the output alone, or the most that the request can cause.
 */
export type ChargedTokens =
  | { readonly input: number; readonly cacheRead?: number; readonly output: number }
  | 'own'
  | 'own-output'
  | 'most';

/**
 * `complete`: the whole answer, charged. `refused`: an error status, free. `broken`: an error
 * status before the first byte, the format's error event after it; free. `either`: complete or
 * broken, and charged accordingly.
 */
export type Expected =
  | { readonly kind: 'complete'; readonly tokens?: ChargedTokens }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly retryAfterSeconds?: readonly [least: number, most: number];
    }
  | { readonly kind: 'broken'; readonly code: ErrorCode }
  | { readonly kind: 'either' };

export type Fault = {
  readonly name: string;
  /** null: the request goes to a port without a listener. */
  readonly play: PlayFault | null;
  /** null: the fault cannot occur here. */
  readonly expect: (context: FaultContext) => Expected | null;
  /** Transfers so much that only a few may run at a time. */
  readonly isHeavy?: boolean;
};

const complete: Expected = { kind: 'complete' };
const refused = (code: ErrorCode): Expected => ({ kind: 'refused', code });
const broken = (code: ErrorCode): Expected => ({ kind: 'broken', code });
const failed = refused('upstream_error');
const unavailable = refused('upstream_unavailable');
const late = refused('upstream_timeout');

const always = (expected: Expected) => () => expected;
const byKind = (whole: Expected | null, stream: Expected | null) => (context: FaultContext) =>
  context.stream ? stream : whole;

const send =
  (write: (call: FaultCall) => string | Uint8Array): PlayFault =>
  async (call) =>
    call.write(write(call));
const sendThen =
  (then: 'close' | 'reset' | 'hang', write: (call: FaultCall) => string | Uint8Array): PlayFault =>
  async (call) => {
    await call.write(write(call));
    if (then === 'hang') return 'hang';
    await call[then]();
  };

/** The good answer's head and half of its body; frames are not cut. */
function halfOf(call: FaultCall): string {
  if (call.stream) return openChunkedAnswer(call, begunFramesOf(call));
  const answer = goodAnswer(call);
  return answer.slice(0, answer.indexOf('\r\n\r\n') + 40);
}

/**
 * Adds `Connection: close`: else the next request would be sent on a connection that is about to
 * end.
 */
const closingConnection = (answer: string) => answer.replace('\r\n', '\r\nConnection: close\r\n');
const headOf = (call: FaultCall) => goodAnswer(call).split('\r\n\r\n', 1)[0]!;
const bodyText = (call: FaultCall) =>
  call.stream ? bytesOf(call, framesOf(call)) : wholeText(call);
/** The good answer with a wrong `Content-Length`. */
const withLength = (call: FaultCall, lengthOf: (bytes: number) => number) =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${typeOf(call)}\r\nContent-Length: ${lengthOf(bodyText(call).length)}\r\n\r\n${bodyText(call)}`;
/**
 * A good start, then these frames and a proper end of HTTP. For a whole answer they are the entire
 * body.
 */
const inMidStream = (more: (call: FaultCall) => readonly SseFrame[]) =>
  send((call) =>
    call.stream
      ? chunkedAnswer(call, [...begunFramesOf(call), ...more(call)])
      : httpAnswer(bytesOf(call, more(call))),
  );
/** Says only that the stream goes on. */
const idleFrame = ({ host }: FaultCall): SseFrame =>
  host.framing === 'sse' ? ': still here\n\n' : { event: 'ping', data: { type: 'ping' } };
const page = '<!doctype html>\n\n<html><h1>502 Bad Gateway</h1>\n\n</html>\n';
const noise = Buffer.from(
  Array.from({ length: 4_096 }, (_, index) => (index * index * 31 + index * 7 + 128) % 256),
);

const connectionFaults: readonly Fault[] = [
  { name: 'refused', play: null, expect: always(unavailable) },
  { name: 'hang', play: async () => 'hang', expect: always(late) },
  { name: 'close-at-once', play: async ({ close }) => close(), expect: always(unavailable) },
  { name: 'reset-at-once', play: async ({ reset }) => reset(), expect: always(unavailable) },
  {
    name: 'close-mid-head',
    play: sendThen('close', (call) => headOf(call).slice(0, -5)),
    expect: always(unavailable),
  },
  { name: 'reset-mid-head', play: sendThen('reset', () => 'HTTP/1.'), expect: always(unavailable) },
  { name: 'hang-mid-head', play: sendThen('hang', (call) => headOf(call)), expect: always(late) },
  {
    name: 'reset-after-head',
    play: sendThen('reset', (call) => `${headOf(call)}\r\n\r\n`),
    expect: always(failed),
  },
  {
    name: 'hang-after-head',
    play: sendThen('hang', (call) => `${headOf(call)}\r\n\r\n`),
    expect: always(late),
  },
  {
    name: 'close-mid-body',
    play: sendThen('close', halfOf),
    expect: byKind(failed, broken('upstream_error')),
  },
  {
    name: 'reset-mid-body',
    play: sendThen('reset', halfOf),
    expect: byKind(failed, broken('upstream_error')),
  },
  {
    name: 'hang-mid-body',
    play: sendThen('hang', halfOf),
    expect: byKind(late, broken('upstream_timeout')),
  },
  {
    name: 'reset-at-last-byte',
    play: sendThen('reset', (call) => goodAnswer(call).slice(0, -1)),
    // A stream lacks only the end of its last chunk.
    expect: byKind(failed, complete),
  },
  {
    name: 'reset-after-last-byte',
    play: sendThen('reset', (call) => closingConnection(goodAnswer(call))),
    expect: always(complete),
  },
  {
    name: 'hang-at-last-byte',
    play: sendThen('hang', (call) => goodAnswer(call).slice(0, -1)),
    expect: byKind(late, complete),
  },
  { name: 'drip', play: drip, expect: always(complete) },
  // Never silent and never complete: only the total timeout ends it.
  {
    name: 'endless-comments',
    play: endlessly(
      (call) => openChunkedAnswer(call, begunFramesOf(call)),
      (call) => chunks(call, [idleFrame(call)]),
    ),
    expect: byKind(null, broken('upstream_timeout')),
  },
  {
    name: 'endless-spaces',
    play: endlessly(
      () => 'HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n',
      () => ' ',
    ),
    expect: byKind(late, null),
  },
];

const dripBytes = 3;

/** The good answer in the smallest pieces that a busy machine can send in time. */
async function drip({ write, ...call }: FaultCall): Promise<void> {
  const answer = Buffer.from(goodAnswer({ write, ...call }), 'latin1');
  for (let at = 0; at < answer.length; at += dripBytes)
    await write(answer.subarray(at, at + dripBytes));
}

const httpFaults: readonly Fault[] = [
  { name: 'no-http', play: sendThen('close', () => noise), expect: always(failed) },
  { name: 'endless-headers', play: endlessHeaders, expect: always(failed) },
  {
    name: 'length-too-short',
    play: sendThen('close', (call) => withLength(call, (bytes) => Math.floor(bytes / 2))),
    expect: byKind(failed, broken('upstream_error')),
  },
  {
    name: 'length-too-long',
    play: sendThen('close', (call) => withLength(call, (bytes) => bytes + 100)),
    expect: byKind(failed, complete),
  },
  {
    name: 'length-too-long-and-hang',
    play: sendThen('hang', (call) => withLength(call, (bytes) => bytes + 100)),
    expect: byKind(late, complete),
  },
  {
    name: 'two-lengths',
    play: send((call) => httpAnswer(bodyText(call), { headers: ['Content-Length: 3'] })),
    expect: always(failed),
  },
  {
    name: 'broken-chunk-first',
    play: sendThen('close', (call) => `${openChunkedAnswer(call, [])}zz\r\n`),
    expect: always(failed),
  },
  {
    name: 'broken-chunk-mid',
    play: sendThen(
      'close',
      (call) => `${openChunkedAnswer(call, call.stream ? begunFramesOf(call) : [])}zz\r\nnonsense`,
    ),
    expect: byKind(failed, broken('upstream_error')),
  },
  { name: 'compressed', play: compressed, expect: always(failed) },
  {
    name: 'early-hints',
    play: send((call) => `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${goodAnswer(call)}`),
    expect: always(complete),
  },
  // The gateway did not ask for an upgrade, and the HTTP client does not treat it as an answer.
  {
    name: 'continue',
    play: send((call) => `HTTP/1.1 100 Continue\r\n\r\n${goodAnswer(call)}`),
    expect: always(unavailable),
  },
  {
    name: 'endless-hints',
    play: endlessly(
      () => '',
      () => 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
    ),
    expect: always(late),
  },
  {
    name: 'endless-chunk-extension',
    play: endlessly(
      (call) => `${openChunkedAnswer(call, [], { type: typeOf(call) })}5;`,
      () => 'x'.repeat(100),
    ),
    expect: always(late),
  },
  {
    name: 'endless-trailers',
    play: endlessly(
      (call) =>
        (call.stream
          ? openChunkedAnswer(call, framesOf(call))
          : `${openChunkedAnswer(call, [], { type: 'application/json' })}${wholeChunk(call)}`) +
        '0\r\n',
      () => `X-T: ${'x'.repeat(8_000)}\r\n`,
    ),
    expect: byKind(failed, complete),
  },
  {
    name: 'http-1.0',
    play: sendThen(
      'close',
      (call) => `HTTP/1.0 200 OK\r\nContent-Type: ${typeOf(call)}\r\n\r\n${bodyText(call)}`,
    ),
    expect: always(complete),
  },
  {
    name: 'no-content-type',
    play: sendThen('close', (call) => `HTTP/1.1 200 OK\r\n\r\n${bodyText(call)}`),
    expect: always(complete),
  },
  {
    name: 'odd-head',
    play: send((call) =>
      httpAnswer(bodyText(call), {
        type: `${typeOf(call).toUpperCase()} ; Charset=UTF-8`,
        headers: ['X-\u0001Odd: \u00ff\u0000'],
      }),
    ),
    expect: always({ kind: 'either' }),
  },
  {
    name: 'odd-transfer-encoding',
    play: sendThen('close', (call) =>
      closingConnection(goodAnswer({ ...call, stream: true }))
        .replace('chunked', 'gzip, chunked')
        .replace(typeOf({ ...call, stream: true }), typeOf(call)),
    ),
    expect: always({ kind: 'either' }),
  },
  {
    name: 'switching-protocols',
    play: send(
      () => 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    ),
    expect: always(unavailable),
  },
  {
    name: 'no-content',
    play: send(() => 'HTTP/1.1 204 No Content\r\n\r\n'),
    expect: always(failed),
  },
  {
    name: 'redirect',
    play: send(() =>
      httpAnswer('', { status: '307 Temporary Redirect', headers: ['Location: /v1/elsewhere'] }),
    ),
    expect: always(failed),
  },
  // The next request on the connection must not get the unsolicited answer.
  {
    name: 'second-answer',
    play: send(
      (call) =>
        goodAnswer(call) +
        goodAnswer({ ...call, content: { ...call.content, text: 'for somebody else' } }),
    ),
    expect: always(complete),
  },
];

/** The good whole answer as one chunk. */
function wholeChunk(call: FaultCall): string {
  const text = wholeText(call);
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** A start, then more of the same for as long as the gateway reads. */
function endlessly(
  start: (call: FaultCall) => string,
  more: (call: FaultCall) => string,
): PlayFault {
  return async (call) => {
    await call.write(start(call));
    while (!call.isGone()) {
      await call.write(more(call));
      await call.pause(50);
    }
    return 'hang';
  };
}

async function endlessHeaders({ write, isGone }: FaultCall): Promise<void> {
  await write('HTTP/1.1 200 OK\r\n');
  for (let index = 0; index < 1_000 && !isGone(); index++)
    await write(`X-${index}: ${'x'.repeat(1_000)}\r\n`);
}

async function compressed(call: FaultCall): Promise<void> {
  const body = gzipSync(Buffer.from(bodyText(call), 'latin1'));
  await call.write(
    `HTTP/1.1 200 OK\r\nContent-Type: ${typeOf(call)}\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await call.write(body);
}

const errorText = 'the tool is unknown';
const errorBody = (call: FaultCall) => errorBodyOf(call, errorText);

function status(
  name: string,
  line: string,
  expected: Expected,
  { body, ...options }: StatusOptions = {},
): Fault {
  return {
    name,
    play: send((call) => httpAnswer(body ?? errorBody(call), { status: line, ...options })),
    expect: always(expected),
  };
}
type StatusOptions = {
  readonly body?: string;
  readonly type?: string;
  readonly headers?: readonly string[];
};

function storm(
  name: string,
  retryAfter: (call: FaultCall) => string,
  retryAfterSeconds: readonly [number, number],
): Fault {
  return {
    name: `storm-${name}`,
    play: send((call) =>
      httpAnswer(errorBody(call), {
        status: '429 Slow',
        headers: [`Retry-After: ${retryAfter(call)}`],
      }),
    ),
    expect: always({ kind: 'refused', code: 'upstream_unavailable', retryAfterSeconds }),
  };
}

const dayS = 24 * 60 * 60;
const statusFaults: readonly Fault[] = [
  storm('seconds', () => '7', [7, 7]),
  storm('date', ({ nowMs }) => new Date(nowMs() + 30_000).toUTCString(), [20, 31]),
  storm('date-long-past', () => 'Thu, 01 Jan 1970 00:00:00 GMT', [0, 5]),
  storm('date-absurd', () => 'Fri, 31 Dec 9999 23:59:59 GMT', [1, dayS]),
  storm('absurd', () => '99999999999999999999', [1, dayS]),
  storm('negative', () => '-1', [1, 10]),
  storm('words', () => 'soon; drop table', [1, 10]),
  status('credential-refused', '401 Unauthorized', failed),
  status('unpaid', '402 Payment Required', failed),
  status('not-found', '404 Not Found', refused('invalid_request')),
  status('server-error-html', '500 Oops', failed, { body: page, type: 'text/html' }),
  status('bad-gateway-empty', '502 Bad Gateway', failed, { body: '' }),
  status('gateway-timeout', '504 Gateway Timeout', late),
  status('overloaded', '529 Overloaded', unavailable),
  status('no-such-status', '999 What', failed),
  {
    name: 'error-body-cut-off',
    play: sendThen('reset', (call) =>
      httpAnswer(errorBody(call), { status: '500 Oops' }).slice(0, -5),
    ),
    expect: always(failed),
  },
];

const bodyFaults: readonly Fault[] = [
  {
    name: 'empty-body',
    play: send((call) => httpAnswer('', { type: typeOf(call) })),
    expect: always(failed),
  },
  { name: 'empty-object', play: send(() => httpAnswer('{}')), expect: always(failed) },
  {
    name: 'error-under-200',
    play: send((call) => httpAnswer(errorBody(call))),
    expect: always(failed),
  },
  {
    name: 'html-under-200',
    play: send(() => httpAnswer(page, { type: 'text/html' })),
    expect: always(failed),
  },
  {
    name: 'html-called-right',
    play: send((call) => httpAnswer(page, { type: typeOf(call) })),
    expect: always(failed),
  },
  {
    name: 'json-called-a-stream',
    play: send((call) => httpAnswer(wholeText(call), { type: typeOf({ ...call, stream: true }) })),
    expect: always(failed),
  },
  {
    name: 'stream-called-json',
    play: send((call) => chunkedAnswer(call, framesOf(call), { type: 'application/json' })),
    expect: always(failed),
  },
  {
    name: 'the-other-kind',
    play: send((call) =>
      call.stream ? httpAnswer(wholeText(call)) : chunkedAnswer(call, framesOf(call)),
    ),
    expect: always(failed),
  },
  {
    name: 'json-cut-off',
    play: send((call) => httpAnswer(wholeText(call).slice(0, -5))),
    expect: byKind(failed, null),
  },
  {
    name: 'comments-only',
    play: send((call) => chunkedAnswer(call, [': hello\n\n', ': hello\n\n'])),
    expect: always(failed),
  },
  {
    name: 'noise',
    play: send((call) => httpAnswer(noise.toString('latin1'), { type: typeOf(call) })),
    expect: always(failed),
  },
  {
    name: 'line-of-100-mb',
    play: hugeLine,
    expect: byKind(failed, broken('upstream_error')),
    isHeavy: true,
  },
];

const megabyte = Buffer.alloc(1024 * 1024, 'x');

/** A text of a hundred megabytes: in valid JSON, or in one endless event. */
async function hugeLine(call: FaultCall): Promise<void> {
  const start = call.stream ? bytesOf(call, begunFramesOf(call)) : '';
  await call.write(
    `HTTP/1.1 200 OK\r\nContent-Type: ${typeOf(call)}\r\nContent-Length: 104857700\r\n\r\n${start}data: {"x":"`,
  );
  for (let count = 0; count < 100 && !call.isGone(); count++) await call.write(megabyte);
  call.close();
}

const streamFaults: readonly Fault[] = [
  {
    name: 'ends-early',
    play: inMidStream(() => []),
    expect: byKind(failed, broken('upstream_error')),
  },
  {
    name: 'ends-after-start',
    play: send((call) =>
      call.stream ? chunkedAnswer(call, framesOf(call).slice(0, 1)) : chunkedAnswer(call, []),
    ),
    expect: byKind(failed, broken('upstream_error')),
  },
  {
    name: 'half-a-first-line',
    play: send((call) => chunkedAnswer(call, ['data: {"type":'])),
    expect: always(failed),
  },
  {
    name: 'half-a-line',
    play: inMidStream(() => ['data: {"choices":[{"del']),
    expect: byKind(failed, broken('upstream_error')),
  },
  {
    name: 'html-mid-stream',
    play: inMidStream(() => [page]),
    expect: byKind(null, broken('upstream_error')),
  },
  {
    name: 'noise-mid-stream',
    play: inMidStream(() => [noise.toString('latin1')]),
    expect: byKind(null, broken('upstream_error')),
  },
  {
    name: 'garbage-frame-first',
    play: send((call) => chunkedAnswer(call, ['data: {"no\n\n', ...framesOf(call)])),
    expect: byKind(failed, failed),
  },
  {
    name: 'garbage-frame-mid-stream',
    play: inMidStream((call) => ['data: {"no\n\n', ...framesOf(call)]),
    expect: byKind(failed, broken('upstream_error')),
  },
  {
    name: 'error-event-first',
    play: send((call) => chunkedAnswer(call, [errorFrameOf(call, errorText)])),
    expect: byKind(null, failed),
  },
  {
    name: 'error-event-mid-stream',
    play: inMidStream((call) => [errorFrameOf(call, errorText)]),
    expect: byKind(null, broken('upstream_error')),
  },
  {
    name: 'events-twice',
    play: send((call) =>
      chunkedAnswer(
        call,
        framesOf(call).flatMap((frame) => [frame, frame]),
      ),
    ),
    expect: byKind(null, { kind: 'either' }),
  },
  {
    name: 'stream-twice',
    play: send((call) => chunkedAnswer(call, [...framesOf(call), ...framesOf(call)])),
    expect: ({ stream, host }) =>
      stream ? (host.wire === 'gemini' ? { kind: 'either' } : complete) : null,
  },
  {
    name: 'error-after-the-end',
    play: send((call) => chunkedAnswer(call, [...framesOf(call), errorFrameOf(call, errorText)])),
    expect: ({ stream, host }) =>
      stream ? (host.wire === 'gemini' ? broken('upstream_error') : complete) : null,
  },
];

/** Those that say nothing of conversations. */
export const transportFaults: readonly Fault[] = [
  { name: 'none', play: playGood, expect: always(complete) },
  ...connectionFaults,
  ...httpFaults,
  ...statusFaults,
  ...bodyFaults,
];

export const faults: readonly Fault[] = [
  ...transportFaults,
  ...streamFaults,
  ...binaryFaults,
  ...usageFaults,
  ...echoFaults,
];
