// What only Bedrock's binary streams can have: frames that are cut, damaged or too long, and
// exceptions in place of events.
import type { Expected, ErrorCode, Fault } from './faults.ts';
import {
  begunFramesOf,
  bytesOf,
  chunkedAnswer,
  framesOf,
  openChunkedAnswer,
  type FaultCall,
  type PlayFault,
} from './fault-server.ts';
import { encodeError, encodeException, encodePrelude } from './event-stream.ts';

const failed: Expected = { kind: 'refused', code: 'upstream_error' };
const broken = (code: ErrorCode = 'upstream_error'): Expected => ({ kind: 'broken', code });

function binary(name: string, expected: Expected, play: PlayFault): Fault {
  return {
    name: `binary-${name}`,
    play,
    expect: ({ host, stream }) => (stream && host.framing !== 'sse' ? expected : null),
  };
}

/** Sends the stream's first words and these bytes, then the rest of the good stream. */
function amid(name: string, bytes: (call: FaultCall) => string, expected = broken()): Fault {
  return binary(name, expected, async (call) => {
    const begun = begunFramesOf(call);
    const rest = framesOf(call).slice(begun.length);
    await call.write(chunkedAnswer(call, [...begun, bytes(call), ...rest]));
  });
}

/** The frame that follows the first words. */
function nextFrame(call: FaultCall): string {
  return bytesOf(call, [framesOf(call)[begunFramesOf(call).length]!]);
}

/** Turns one bit of the byte at a place, which counts from the end if it is negative. */
function flip(text: string, place: number): string {
  const bytes = Buffer.from(text, 'latin1');
  bytes[place < 0 ? bytes.length + place : place]! ^= 1;
  return bytes.toString('latin1');
}

const half = (text: string) => text.slice(0, text.length / 2);
const asText = (bytes: Buffer) => bytes.toString('latin1');
const exception = (type: string) => () => asText(encodeException(type, 'the tool is unknown'));

const untilMidFrame = (call: FaultCall) => [...begunFramesOf(call), half(nextFrame(call))];

export const binaryFaults: readonly Fault[] = [
  binary('cut-in-first-frame', failed, async (call) =>
    call.write(chunkedAnswer(call, [half(bytesOf(call, framesOf(call).slice(0, 1)))])),
  ),
  binary('cut-in-mid-frame', broken(), async (call) =>
    call.write(chunkedAnswer(call, untilMidFrame(call))),
  ),
  binary('reset-in-mid-frame', broken(), async (call) => {
    await call.write(openChunkedAnswer(call, untilMidFrame(call)));
    await call.reset();
  }),
  binary('hang-in-mid-frame', broken('upstream_timeout'), async (call) => {
    await call.write(openChunkedAnswer(call, untilMidFrame(call)));
    return 'hang';
  }),
  amid('damaged-lengths', (call) => flip(nextFrame(call), 3)),
  amid('damaged-checksum-of-lengths', (call) => flip(nextFrame(call), 11)),
  amid('damaged-header', (call) => flip(nextFrame(call), 14)),
  amid('damaged-payload', (call) => flip(nextFrame(call), -8)),
  amid('damaged-checksum', (call) => flip(nextFrame(call), -1)),
  amid('frame-of-100-mb', () => asText(encodePrelude(100_000_000, 60))),
  amid('frame-of-4-gb', () => asText(encodePrelude(0xffff_ffff, 60))),
  amid('frame-of-no-bytes', () => asText(encodePrelude(0, 0))),
  amid('headers-longer-than-frame', () => asText(encodePrelude(40, 4_000)) + 'x'.repeat(28)),
  amid('server-exception', exception('internalServerException')),
  amid('model-exception', exception('modelStreamErrorException')),
  amid('validation-exception', exception('validationException'), broken('invalid_request')),
  amid('throttling-exception', exception('throttlingException'), broken('upstream_unavailable')),
  amid('unknown-exception', exception('somethingNewException')),
  amid('error-frame', () => asText(encodeError('InternalFailure', 'the tool is unknown'))),
  {
    name: 'binary-exception-for-the-last-frame',
    play: async (call) =>
      call.write(
        chunkedAnswer(call, [...framesOf(call).slice(0, -1), exception('serverException')()]),
      ),
    // Converse has its usage there; Claude's came before.
    expect: ({ host, stream }) => {
      if (!stream || host.framing === 'sse') return null;
      return host.framing === 'converse' ? broken() : { kind: 'complete' };
    },
  },
  // Headers and events that nobody knows yet say nothing about the answer.
  amid(
    'unknown-event',
    (call) => bytesOf(call, [{ event: 'somethingNew', data: { type: 'something_new' } }]),
    { kind: 'complete' },
  ),
];
