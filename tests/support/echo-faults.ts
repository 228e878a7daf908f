// Providers that quote the request in their errors: the operator's key, and the client's prompt.
// The client that sent the refused request may see the message, without the key. Nobody else may
// see any of it.
import type { Expected, Fault } from './faults.ts';
import { errorBodyOf, errorFrameOf } from './host-errors.ts';
import {
  begunFramesOf,
  chunkedAnswer,
  httpAnswer,
  typeOf,
  type FaultCall,
  type PlayFault,
} from './fault-server.ts';

const failed: Expected = { kind: 'refused', code: 'upstream_error' };

/** Everything a provider could quote, as text. */
function quote({ request: { head, body } }: FaultCall): string {
  const key = /^(?:authorization: *bearer|x-api-key:|x-goog-api-key:|api-key:) *(\S+)/im.exec(
    head,
  )?.[1];
  return `The key ${key} of org-0123456789abcdef (https://${key}:x@internal.provider.example/${key}?key=${key}) cannot: ${body}`;
}

const errorOf = (call: FaultCall) => errorBodyOf(call, quote(call), { debug: call.request });

function echo(
  name: string,
  play: (call: FaultCall) => string,
  expected: Fault['expect'] | Expected,
): Fault {
  const send: PlayFault = async (call) => call.write(play(call));
  return {
    name: `echo-${name}`,
    play: send,
    expect: typeof expected === 'function' ? expected : () => expected,
  };
}

/** A header line must not contain line breaks. */
const inHead = (text: string) => text.replaceAll(/[^ -~]/g, ' ');

export const echoFaults: readonly Fault[] = [
  echo('bad-request', (call) => httpAnswer(errorOf(call), { status: '400 Bad Request' }), {
    kind: 'refused',
    code: 'invalid_request',
  }),
  echo(
    'unprocessable-text',
    (call) => httpAnswer(quote(call), { status: '422 No', type: 'text/plain' }),
    {
      kind: 'refused',
      code: 'invalid_request',
    },
  ),
  echo('credential', (call) => httpAnswer(errorOf(call), { status: '401 Unauthorized' }), failed),
  echo('forbidden', (call) => httpAnswer(errorOf(call), { status: '403 Forbidden' }), failed),
  echo('too-many', (call) => httpAnswer(errorOf(call), { status: '429 Slow' }), {
    kind: 'refused',
    code: 'upstream_unavailable',
  }),
  echo(
    'html',
    (call) => httpAnswer(`<html>${quote(call)}</html>`, { status: '500 Oops', type: 'text/html' }),
    failed,
  ),
  echo(
    'head',
    (call) =>
      httpAnswer('{}', {
        status: `500 ${inHead(quote(call))}`,
        headers: [
          `X-Echo: ${inHead(quote(call))}`,
          `Retry-After: ${inHead(quote(call))}`,
          `Location: ${inHead(quote(call))}`,
        ],
      }),
    failed,
  ),
  echo(
    'redirect',
    (call) =>
      httpAnswer('', { status: '302 Found', headers: [`Location: /${inHead(quote(call))}`] }),
    failed,
  ),
  echo('no-http', (call) => `${quote(call)}\r\n\r\n`, failed),
  echo('under-200', (call) => httpAnswer(errorOf(call)), failed),
  echo('no-json', (call) => httpAnswer(quote(call), { type: typeOf(call) }), failed),
  echo(
    'content-type',
    (call) =>
      httpAnswer('{"odd":1}', {
        type: `application/${inHead(quote(call)).replaceAll(/\s/g, '-')}`,
      }),
    failed,
  ),
  echo(
    'event',
    (call) => chunkedAnswer(call, [...begunFramesOf(call), errorFrameOf(call, quote(call))]),
    ({ stream }) => (stream ? { kind: 'broken', code: 'upstream_error' } : null),
  ),
  echo(
    'frame',
    (call) =>
      chunkedAnswer(call, [...begunFramesOf(call), `data: {${JSON.stringify(quote(call))}\n\n`]),
    ({ stream }) => (stream ? { kind: 'broken', code: 'upstream_error' } : null),
  ),
];
