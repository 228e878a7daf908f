// A local upstream for tests: a real HTTP server on loopback that plays a script for each path and
// records its requests.
//
//   const upstream = await startUpstream(t);         // stops when the test ends
//   upstream.on('/v1/chat/completions', answerStatus(529), answerJson(completion)); // the last repeats
//   … use `${upstream.url}/v1` as a provider's base_url and run …
//   assert.equal(upstream.requests.length, 2);
//   const request = await upstream.request(0);       // waits for it
//   assert.equal(await request.ended, 'aborted');    // 'answered': the whole answer was sent
//
// Scripts: answerJson, answerSse (frames, paced), answerBytes (a recording, cut anywhere, paced),
// answerStatus (errors), hang (never answers), thenHang and thenReset (the head and part of a body,
// then silence or a reset), or any function. holdBack and answerInParts answer when the test says
// so; answerEndlessly writes for as long as the client reads.
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Hooks } from './file-hooks.ts';

/** Plays one answer. It ends when the answer is written or the client has left. */
export type Script = (response: ServerResponse, request: UpstreamRequest) => void | Promise<void>;

type UpstreamRequest = {
  readonly method: string;
  /** Without the query, which is in `query` unparsed: `alt=sse`, or ''. */
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as it was sent. */
  readonly text: string;
  /** Parsed JSON, or text if it is not JSON. */
  readonly body: unknown;
  /** How the request ended; pending while it runs. */
  readonly ended: Promise<'answered' | 'aborted'>;
  /** Bytes accepted by the kernel so far; stops growing when the client does not read. */
  readonly bytesSent: () => number;
};

export type LocalUpstream = {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string;
  /** Requests so far, in order. */
  readonly requests: readonly UpstreamRequest[];
  /** The number of connections opened. */
  readonly connections: () => number;
  /**
   * Scripts for a path, one per request; the last one repeats. `*`: for all paths without one, which
   * else answer 404.
   */
  readonly on: (path: string, ...scripts: [Script, ...Script[]]) => void;
  /** Waits for the request with that index. */
  readonly request: (index: number) => Promise<UpstreamRequest>;
  readonly close: () => Promise<void>;
};

/**
 * Starts one on a free port; with a test's context or a file's hooks, it stops after the test or
 * the file.
 */
export async function startUpstream(t?: Hooks): Promise<LocalUpstream> {
  const scripts = new Map<string, Script[]>();
  const requests: UpstreamRequest[] = [];
  let connections = 0;
  const server = createServer(
    { keepAliveTimeout: 60_000, requestTimeout: 0 },
    (incoming, response) => {
      void readRequest(incoming, response).then((request) => {
        requests.push(request);
        server.emit('recorded');
        return takeScript(scripts, request.path)(response, request);
      });
    },
  );
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream: LocalUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: () => connections,
    on: (path, ...list) => void scripts.set(path, list),
    request: async (index) => {
      while (requests.length <= index) await once(server, 'recorded');
      return requests[index]!;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  t?.after(upstream.close);
  return upstream;
}

type AnswerOptions = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
};
type PacedOptions = AnswerOptions & { readonly paceMs?: number };

/** A whole JSON answer. A `body` that is text is sent unchanged. */
export function answerJson(
  body: unknown,
  { status = 200, headers = {} }: AnswerOptions = {},
): Script {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** An upstream's error: a JSON body, and `Retry-After` sent unchanged. */
export function answerStatus(
  status: number,
  { body = { error: { message: `status ${status}` } }, retryAfter }: StatusOptions = {},
): Script {
  return answerJson(body, {
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
}
type StatusOptions = { readonly body?: unknown; readonly retryAfter?: string };

/**
 * Server-sent events. A frame is raw text, or an event whose data is written as JSON unless it is
 * text.
 */
export function answerSse(frames: readonly SseFrame[], options: PacedOptions = {}): Script {
  return playPieces(
    frames.map((frame) => Buffer.from(formatFrame(frame))),
    options,
  );
}
export type SseFrame = string | { readonly event?: string; readonly data: unknown };

/** The raw frames, for custom scripts. */
export function framesText(frames: readonly SseFrame[]): string {
  return frames.map(formatFrame).join('');
}

function formatFrame(frame: SseFrame): string {
  if (typeof frame === 'string') return frame;
  const { event, data } = frame;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/** Bytes as a stream, in pieces of the given sizes, repeated: `[1]` is byte by byte. */
export function answerBytes(
  bytes: Uint8Array,
  { sizes = [bytes.length], ...options }: BytesOptions = {},
): Script {
  const pieces: Uint8Array[] = [];
  for (let start = 0, turn = 0; start < bytes.length; turn++) {
    const end = start + Math.max(sizes[turn % sizes.length] ?? bytes.length, 1);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return playPieces(pieces, options);
}
type BytesOptions = PacedOptions & { readonly sizes?: readonly number[] };

function playPieces(
  pieces: readonly Uint8Array[],
  { status = 200, headers = {}, paceMs = 0 }: PacedOptions,
): Script {
  return async (response) => {
    response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
    for (const piece of pieces) {
      if (response.destroyed) return;
      const isTaken = response.write(piece);
      if (paceMs > 0) await setTimeout(paceMs);
      else if (!isTaken) await roomToWrite(response);
    }
    response.end();
  };
}

/**
 * The first frames, then the others repeated as fast as the client reads, up to this many bytes,
 * then silence.
 */
export function answerEndlessly(
  first: readonly SseFrame[],
  others: readonly SseFrame[],
  bytes: number,
): Script {
  const again = framesText(others);
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText(first));
    for (let sent = 0; sent < bytes && !response.destroyed; sent += again.length) {
      if (!response.write(again)) await roomToWrite(response);
    }
  };
}

/** Waits until the client has read the written bytes, or has left. */
async function roomToWrite(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}

/** Accepts the request and never answers. */
export const hang: Script = () => {};

/** Plays the script after the gate opens. */
export function behind(gate: Promise<unknown>, script: Script): Script {
  return async (response, request) => {
    await gate;
    return script(response, request);
  };
}

/** The head and these bytes, then silence. */
export function thenHang(
  bytes: string | Uint8Array,
  { status = 200, headers = {} }: AnswerOptions = {},
): Script {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
    response.flushHeaders();
    if (bytes.length > 0) response.write(bytes);
  };
}

/**
 * Resets the connection: before the answer, or after the head and these bytes, which the client may
 * not have read yet.
 */
export function thenReset(bytes: string | Uint8Array | null, options: AnswerOptions = {}): Script {
  return async (response, request) => {
    const { socket } = response;
    if (bytes !== null) {
      await thenHang(bytes, options)(response, request);
      // A reset discards bytes that the kernel has not sent yet. Write callbacks come in order.
      await new Promise((resolve) => socket?.write('', resolve));
    }
    socket?.resetAndDestroy();
  };
}

type HeldBack = { readonly script: Script; readonly release: () => void };

/** Plays the script when released. */
export function holdBack(script: Script): HeldBack {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    script: async (response, request) => {
      await promise;
      await script(response, request);
    },
    release: resolve,
  };
}

/** A stream: the first frames at once, the others when released. */
export function answerInParts(first: readonly SseFrame[], others: readonly SseFrame[]): HeldBack {
  const end = holdBack((response) => void response.end(framesText(others)));
  return {
    script: async (response, request) => {
      await thenHang(framesText(first))(response, request);
      await end.script(response, request);
    },
    release: end.release,
  };
}

/** A stream: these frames at once, and a reset when released, after the client has read them. */
export function resetInMidAnswer(frames: readonly SseFrame[]): HeldBack {
  const reset = holdBack(thenReset(null));
  return {
    script: async (response, request) => {
      await thenHang(framesText(frames))(response, request);
      await reset.script(response, request);
    },
    release: reset.release,
  };
}

async function readRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<UpstreamRequest> {
  const ended = Promise.withResolvers<'answered' | 'aborted'>();
  response.on('close', () => ended.resolve(response.writableFinished ? 'answered' : 'aborted'));
  const { socket } = response;
  const startBytes = socket?.bytesWritten ?? 0;
  const text = Buffer.concat(await incoming.toArray().catch(() => [])).toString('utf8');
  const [path = '', query = ''] = (incoming.url ?? '').split('?', 2);
  return {
    method: incoming.method ?? '',
    path,
    query,
    headers: incoming.headers,
    text,
    body: parse(text),
    ended: ended.promise,
    bytesSent: () => (socket ? socket.bytesWritten - socket.writableLength - startBytes : 0),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function takeScript(scripts: ReadonlyMap<string, Script[]>, path: string): Script {
  const list = scripts.get(path) ?? scripts.get('*');
  const script = list && list.length > 1 ? list.shift() : list?.[0];
  return (
    script ??
    answerStatus(404, { body: { error: { message: `the test has no script for ${path}` } } })
  );
}
