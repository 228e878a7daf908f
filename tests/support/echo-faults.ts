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
  expected: Fault['expect'] | Expected,
  write: (call: FaultCall) => string,
): Fault {
  return {
    name: `echo-${name}`,
    play: async (call) => call.write(write(call)),
    expect: typeof expected === 'function' ? expected : () => expected,
  };
}

/** A header line must not contain line breaks. */
const inHead = (text: string) => text.replaceAll(/[^ -~]/g, ' ');

const invalid: Expected = { kind: 'refused', code: 'invalid_request' };
const brokenStream: Fault['expect'] = ({ stream }) =>
  stream ? { kind: 'broken', code: 'upstream_error' } : null;

export const echoFaults: readonly Fault[] = [
  echo('bad-request', invalid, (call) => httpAnswer(errorOf(call), { status: '400 Bad Request' })),
  echo('unprocessable-text', invalid, (call) =>
    httpAnswer(quote(call), { status: '422 No', type: 'text/plain' }),
  ),
  echo('credential', failed, (call) => httpAnswer(errorOf(call), { status: '401 Unauthorized' })),
  echo('forbidden', failed, (call) => httpAnswer(errorOf(call), { status: '403 Forbidden' })),
  echo('too-many', { kind: 'refused', code: 'upstream_unavailable' }, (call) =>
    httpAnswer(errorOf(call), { status: '429 Slow' }),
  ),
  echo('html', failed, (call) =>
    httpAnswer(`<html>${quote(call)}</html>`, { status: '500 Oops', type: 'text/html' }),
  ),
  echo('head', failed, (call) => {
    const quoted = inHead(quote(call));
    const headers = ['X-Echo', 'Retry-After', 'Location'].map((name) => `${name}: ${quoted}`);
    return httpAnswer('{}', { status: `500 ${quoted}`, headers });
  }),
  echo('redirect', failed, (call) =>
    httpAnswer('', { status: '302 Found', headers: [`Location: /${inHead(quote(call))}`] }),
  ),
  echo('no-http', failed, (call) => `${quote(call)}\r\n\r\n`),
  echo('under-200', failed, (call) => httpAnswer(errorOf(call))),
  echo('no-json', failed, (call) => httpAnswer(quote(call), { type: typeOf(call) })),
  echo('content-type', failed, (call) =>
    httpAnswer('{"odd":1}', { type: `application/${inHead(quote(call)).replaceAll(/\s/g, '-')}` }),
  ),
  echo('event', brokenStream, (call) =>
    chunkedAnswer(call, [...begunFramesOf(call), errorFrameOf(call, quote(call))]),
  ),
  echo('frame', brokenStream, (call) =>
    chunkedAnswer(call, [...begunFramesOf(call), `data: {${JSON.stringify(quote(call))}\n\n`]),
  ),
];
