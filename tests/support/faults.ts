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
const cut = broken('upstream_error');

const byKind = (whole: Expected | null, stream: Expected | null) => (context: FaultContext) =>
  context.stream ? stream : whole;
const cutOff = byKind(failed, cut);

/** One row. `expected`: what the client must get everywhere, or by what it depends on. */
function fault(name: string, play: Fault['play'], expected: Expected | Fault['expect']): Fault {
  return { name, play, expect: typeof expected === 'function' ? expected : () => expected };
}

type Expecting = Expected | Fault['expect'];
type Write = (call: FaultCall) => string | Uint8Array;

const sends = (name: string, expected: Expecting, write: Write) =>
  fault(name, async (call) => call.write(write(call)), expected);
const sendsThen = (
  then: 'close' | 'reset' | 'hang',
  name: string,
  expected: Expecting,
  write: Write,
) => {
  const play: PlayFault = async (call) => {
    await call.write(write(call));
    if (then === 'hang') return 'hang';
    await call[then]();
  };
  return fault(name, play, expected);
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
const inMidStream = (
  name: string,
  expected: Expecting,
  more: (call: FaultCall) => readonly SseFrame[],
) =>
  sends(name, expected, (call) =>
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
  fault('refused', null, unavailable),
  fault('hang', async () => 'hang', late),
  fault('close-at-once', async ({ close }) => close(), unavailable),
  fault('reset-at-once', async ({ reset }) => reset(), unavailable),
  sendsThen('close', 'close-mid-head', unavailable, (call) => headOf(call).slice(0, -5)),
  sendsThen('reset', 'reset-mid-head', unavailable, () => 'HTTP/1.'),
  sendsThen('hang', 'hang-mid-head', late, (call) => headOf(call)),
  sendsThen('reset', 'reset-after-head', failed, (call) => `${headOf(call)}\r\n\r\n`),
  sendsThen('hang', 'hang-after-head', late, (call) => `${headOf(call)}\r\n\r\n`),
  sendsThen('close', 'close-mid-body', cutOff, halfOf),
  sendsThen('reset', 'reset-mid-body', cutOff, halfOf),
  sendsThen('hang', 'hang-mid-body', byKind(late, broken('upstream_timeout')), halfOf),
  // A stream lacks only the end of its last chunk.
  sendsThen('reset', 'reset-at-last-byte', byKind(failed, complete), (call) =>
    goodAnswer(call).slice(0, -1),
  ),
  sendsThen('reset', 'reset-after-last-byte', complete, (call) =>
    closingConnection(goodAnswer(call)),
  ),
  sendsThen('hang', 'hang-at-last-byte', byKind(late, complete), (call) =>
    goodAnswer(call).slice(0, -1),
  ),
  fault('drip', drip, complete),
  // Never silent and never complete: only the total timeout ends it.
  endlessly(
    'endless-comments',
    byKind(null, broken('upstream_timeout')),
    (call) => openChunkedAnswer(call, begunFramesOf(call)),
    (call) => chunks(call, [idleFrame(call)]),
  ),
  endlessly(
    'endless-spaces',
    byKind(late, null),
    () => 'HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n',
    () => ' ',
  ),
];

const dripBytes = 3;

/** The good answer in the smallest pieces that a busy machine can send in time. */
async function drip({ write, ...call }: FaultCall): Promise<void> {
  const answer = Buffer.from(goodAnswer({ write, ...call }), 'latin1');
  for (let at = 0; at < answer.length; at += dripBytes)
    await write(answer.subarray(at, at + dripBytes));
}

const httpFaults: readonly Fault[] = [
  sendsThen('close', 'no-http', failed, () => noise),
  fault('endless-headers', endlessHeaders, failed),
  sendsThen('close', 'length-too-short', cutOff, (call) =>
    withLength(call, (bytes) => Math.floor(bytes / 2)),
  ),
  sendsThen('close', 'length-too-long', byKind(failed, complete), (call) =>
    withLength(call, (bytes) => bytes + 100),
  ),
  sendsThen('hang', 'length-too-long-and-hang', byKind(late, complete), (call) =>
    withLength(call, (bytes) => bytes + 100),
  ),
  sends('two-lengths', failed, (call) =>
    httpAnswer(bodyText(call), { headers: ['Content-Length: 3'] }),
  ),
  sendsThen(
    'close',
    'broken-chunk-first',
    failed,
    (call) => `${openChunkedAnswer(call, [])}zz\r\n`,
  ),
  sendsThen(
    'close',
    'broken-chunk-mid',
    cutOff,
    (call) => `${openChunkedAnswer(call, call.stream ? begunFramesOf(call) : [])}zz\r\nnonsense`,
  ),
  fault('compressed', compressed, failed),
  sends(
    'early-hints',
    complete,
    (call) => `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${goodAnswer(call)}`,
  ),
  // The gateway did not ask for an upgrade, and the HTTP client does not treat it as an answer.
  sends('continue', unavailable, (call) => `HTTP/1.1 100 Continue\r\n\r\n${goodAnswer(call)}`),
  endlessly(
    'endless-hints',
    late,
    () => '',
    () => 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
  ),
  endlessly(
    'endless-chunk-extension',
    late,
    (call) => `${openChunkedAnswer(call, [], { type: typeOf(call) })}5;`,
    () => 'x'.repeat(100),
  ),
  endlessly(
    'endless-trailers',
    byKind(failed, complete),
    (call) =>
      (call.stream
        ? openChunkedAnswer(call, framesOf(call))
        : `${openChunkedAnswer(call, [], { type: 'application/json' })}${wholeChunk(call)}`) +
      '0\r\n',
    () => `X-T: ${'x'.repeat(8_000)}\r\n`,
  ),
  sendsThen(
    'close',
    'http-1.0',
    complete,
    (call) => `HTTP/1.0 200 OK\r\nContent-Type: ${typeOf(call)}\r\n\r\n${bodyText(call)}`,
  ),
  sendsThen(
    'close',
    'no-content-type',
    complete,
    (call) => `HTTP/1.1 200 OK\r\n\r\n${bodyText(call)}`,
  ),
  sends('odd-head', { kind: 'either' }, (call) =>
    httpAnswer(bodyText(call), {
      type: `${typeOf(call).toUpperCase()} ; Charset=UTF-8`,
      headers: ['X-\u0001Odd: \u00ff\u0000'],
    }),
  ),
  sendsThen('close', 'odd-transfer-encoding', { kind: 'either' }, (call) =>
    closingConnection(goodAnswer({ ...call, stream: true }))
      .replace('chunked', 'gzip, chunked')
      .replace(typeOf({ ...call, stream: true }), typeOf(call)),
  ),
  sends(
    'switching-protocols',
    unavailable,
    () => 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
  ),
  sends('no-content', failed, () => 'HTTP/1.1 204 No Content\r\n\r\n'),
  sends('redirect', failed, () =>
    httpAnswer('', { status: '307 Temporary Redirect', headers: ['Location: /v1/elsewhere'] }),
  ),
  // The next request on the connection must not get the unsolicited answer.
  sends(
    'second-answer',
    complete,
    (call) =>
      goodAnswer(call) +
      goodAnswer({ ...call, content: { ...call.content, text: 'for somebody else' } }),
  ),
];

/** The good whole answer as one chunk. */
function wholeChunk(call: FaultCall): string {
  const text = wholeText(call);
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** A start, then more of the same for as long as the gateway reads. */
function endlessly(name: string, expected: Expecting, start: Write, more: Write): Fault {
  const play: PlayFault = async (call) => {
    await call.write(start(call));
    while (!call.isGone()) {
      await call.write(more(call));
      await call.pause(50);
    }
    return 'hang';
  };
  return fault(name, play, expected);
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
  return sends(name, expected, (call) =>
    httpAnswer(body ?? errorBody(call), { status: line, ...options }),
  );
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
  const expected = { kind: 'refused', code: 'upstream_unavailable', retryAfterSeconds } as const;
  return sends(`storm-${name}`, expected, (call) =>
    httpAnswer(errorBody(call), {
      status: '429 Slow',
      headers: [`Retry-After: ${retryAfter(call)}`],
    }),
  );
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
  sendsThen('reset', 'error-body-cut-off', failed, (call) =>
    httpAnswer(errorBody(call), { status: '500 Oops' }).slice(0, -5),
  ),
];

const bodyFaults: readonly Fault[] = [
  sends('empty-body', failed, (call) => httpAnswer('', { type: typeOf(call) })),
  sends('empty-object', failed, () => httpAnswer('{}')),
  sends('error-under-200', failed, (call) => httpAnswer(errorBody(call))),
  sends('html-under-200', failed, () => httpAnswer(page, { type: 'text/html' })),
  sends('html-called-right', failed, (call) => httpAnswer(page, { type: typeOf(call) })),
  sends('json-called-a-stream', failed, (call) =>
    httpAnswer(wholeText(call), { type: typeOf({ ...call, stream: true }) }),
  ),
  sends('stream-called-json', failed, (call) =>
    chunkedAnswer(call, framesOf(call), { type: 'application/json' }),
  ),
  sends('the-other-kind', failed, (call) =>
    call.stream ? httpAnswer(wholeText(call)) : chunkedAnswer(call, framesOf(call)),
  ),
  sends('json-cut-off', byKind(failed, null), (call) => httpAnswer(wholeText(call).slice(0, -5))),
  sends('comments-only', failed, (call) => chunkedAnswer(call, [': hello\n\n', ': hello\n\n'])),
  sends('noise', failed, (call) => httpAnswer(noise.toString('latin1'), { type: typeOf(call) })),
  { ...fault('line-of-100-mb', hugeLine, cutOff), isHeavy: true },
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
  inMidStream('ends-early', cutOff, () => []),
  sends('ends-after-start', cutOff, (call) =>
    call.stream ? chunkedAnswer(call, framesOf(call).slice(0, 1)) : chunkedAnswer(call, []),
  ),
  sends('half-a-first-line', failed, (call) => chunkedAnswer(call, ['data: {"type":'])),
  inMidStream('half-a-line', cutOff, () => ['data: {"choices":[{"del']),
  inMidStream('html-mid-stream', byKind(null, cut), () => [page]),
  inMidStream('noise-mid-stream', byKind(null, cut), () => [noise.toString('latin1')]),
  sends('garbage-frame-first', byKind(failed, failed), (call) =>
    chunkedAnswer(call, ['data: {"no\n\n', ...framesOf(call)]),
  ),
  inMidStream('garbage-frame-mid-stream', cutOff, (call) => ['data: {"no\n\n', ...framesOf(call)]),
  sends('error-event-first', byKind(null, failed), (call) =>
    chunkedAnswer(call, [errorFrameOf(call, errorText)]),
  ),
  inMidStream('error-event-mid-stream', byKind(null, cut), (call) => [
    errorFrameOf(call, errorText),
  ]),
  sends('events-twice', byKind(null, { kind: 'either' }), (call) =>
    chunkedAnswer(
      call,
      framesOf(call).flatMap((frame) => [frame, frame]),
    ),
  ),
  sends(
    'stream-twice',
    ({ stream, host }) =>
      stream ? (host.wire === 'gemini' ? { kind: 'either' } : complete) : null,
    (call) => chunkedAnswer(call, [...framesOf(call), ...framesOf(call)]),
  ),
  sends(
    'error-after-the-end',
    ({ stream, host }) => (stream ? (host.wire === 'gemini' ? cut : complete) : null),
    (call) => chunkedAnswer(call, [...framesOf(call), errorFrameOf(call, errorText)]),
  ),
];

/** Those that say nothing of conversations. */
export const transportFaults: readonly Fault[] = [
  fault('none', playGood, complete),
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
