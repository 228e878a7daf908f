// A process that acts as the model provider: fixed bytes on plain node:http, as fast as possible.
// Prints its port. `GET /served` returns what it served to each key, to compare with a gateway's
// books.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerBody, streamFrames, type WireFormat } from './bodies.ts';
import { upstreamPath } from './workloads.ts';

/**
 * Time between two events of a paced stream. All streams share one timer, like the streams of a
 * model that batches its work.
 */
const beatMs = 4;

/**
 * More than any reader of the bench takes, and no more than the system can buffer for two thousand
 * of them.
 */
const aheadBytes = 512 * 1024;

/** Requests by their Authorization header. A broken answer was not sent to its end. */
export type Served = Readonly<
  Record<string, { readonly answered: number; readonly broken: number }>
>;

type Script = (response: ServerResponse) => void;
type Playing = {
  readonly response: ServerResponse;
  readonly frames: readonly Buffer[];
  next: number;
};

const scripts = new Map<string, Script>();
const playing = new Set<Playing>();
const served = new Map<string, { answered: number; broken: number }>();
/** For gateways that ask a provider for its models. */
const models = { object: 'list', data: [{ id: 'upstream-model', object: 'model' }] };

for (const format of ['chat', 'messages', 'responses'] as const)
  scripts.set(upstreamPath('whole', format), whole(format));
for (const format of ['chat', 'messages'] as const) {
  const frames = streamFrames(format).map((frame) => Buffer.from(frame));
  const all = Buffer.concat(frames);
  scripts.set(upstreamPath('burst', format), (response) => openStream(response).end(all));
  scripts.set(
    upstreamPath('paced', format),
    (response) => void playing.add({ response: openStream(response), frames, next: 0 }),
  );
  const some = Buffer.concat(frames.slice(1, -2));
  const much = Buffer.concat(
    Array.from({ length: Math.ceil(aheadBytes / some.length) }, () => some),
  );
  scripts.set(upstreamPath('ahead', format), (response) => void openStream(response).write(much));
  scripts.set(
    upstreamPath('silent', format),
    (response) => void openStream(response).write(frames[0]),
  );
}

setInterval(() => {
  for (const stream of playing) playNext(stream);
}, beatMs);

const server = createServer(
  { keepAliveTimeout: 300_000, requestTimeout: 0 },
  (request, response) => {
    const script = scripts.get(request.url ?? '');
    if (script) response.once('close', () => count(request, response));
    request.on('end', () => (script ? script(response) : answerQuestion(request, response)));
    request.resume();
  },
);
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

function count({ headers }: IncomingMessage, { writableFinished }: ServerResponse): void {
  const key = headers.authorization ?? '';
  let counts = served.get(key);
  if (!counts) served.set(key, (counts = { answered: 0, broken: 0 }));
  counts[writableFinished ? 'answered' : 'broken'] += 1;
}

function answerQuestion({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const answer =
    url === '/served' ? Object.fromEntries(served) : url.endsWith('/models') ? models : null;
  response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer));
}

function whole(format: WireFormat): Script {
  const body = Buffer.from(answerBody(format));
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return (response) => response.writeHead(200, headers).end(body);
}

function openStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
}

function playNext(stream: Playing): void {
  const { response, frames } = stream;
  const frame = frames[stream.next++];
  if (frame && !response.destroyed) {
    response.write(frame);
    return;
  }
  playing.delete(stream);
  response.end();
}
