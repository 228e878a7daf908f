// A plain HTTP client for tests. It shows what `fetch` hides: trailers, comments in an event
// stream, and connections cut during an answer.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';

export type SendOptions = {
  readonly method?: string;
  /** Sent as `Authorization: Bearer`. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; text and bytes unchanged. */
  readonly body?: object | string | Buffer;
};

/** One frame of an event stream: an event with data, or a comment. */
export type Frame = {
  readonly event: string | null;
  readonly data: unknown;
  readonly comment: string | null;
};

export class Reply {
  /** Such as `GET /v1/models`. */
  readonly asked: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: NodeJS.Dict<string>;
  readonly text: string;

  constructor(response: IncomingMessage, text: string, asked = '') {
    this.asked = asked;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.trailers = response.trailers;
    this.text = text;
  }

  /** The parsed body, as the type that the test claims. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the shape of JSON is the caller's claim in any case
  json<Body = Record<string, unknown>>(): Body {
    return JSON.parse(this.text) as Body;
  }

  /** The error of any endpoint. Other tests check its shape. */
  get error(): ErrorFields {
    if (this.headers['content-type']?.startsWith('application/problem+json')) {
      const problem = this.json<ErrorFields & { detail: string }>();
      return { ...problem, message: problem.detail };
    }
    const body = this.json<{ error?: ErrorFields; request_id?: string }>();
    assert.ok(body.error, `no error in ${this.status} ${this.text}`);
    const [google] = Array.isArray(body.error.details)
      ? (body.error.details as GoogleDetail[])
      : [];
    if (google) return { ...body.error, ...google.metadata };
    return { ...body.error, request_id: body.request_id ?? body.error.request_id };
  }

  get frames(): Frame[] {
    return readFrames(this.text);
  }

  /** The charge, from an answer's headers or a stream's trailers; null when there is none. */
  get costMicros(): number | null {
    const value = this.headers['x-service-cost-micros'] ?? this.trailers['x-service-cost-micros'];
    return typeof value === 'string' ? Number(value) : null;
  }

  get requestId(): string {
    return String(this.headers['x-request-id']);
  }
}

/** Google's errors have our own fields there. */
type GoogleDetail = { readonly metadata: { readonly code: string; readonly request_id: string } };

export type ErrorFields = Readonly<Record<string, unknown>> & {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param?: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly request_id?: string;
};

/** Sends a request and reads the whole answer, whatever its status. */
export async function send(url: string, options: SendOptions = {}): Promise<Reply> {
  const { request, response } = open(url, options);
  const answer = await response;
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  const asked = `${request.method} ${request.path}`;
  return new Reply(answer, Buffer.concat(pieces).toString('utf8'), asked);
}

/** Returns the reply, which must be a 200. */
export async function ok(sent: Promise<Reply>): Promise<Reply> {
  const reply = await sent;
  assert.equal(reply.status, 200, `${reply.asked}: ${reply.text}`);
  return reply;
}

/** Returns the body of a reply, which must be a 200. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the shape of JSON is the caller's claim in any case
export async function jsonOf<Body = Record<string, unknown>>(sent: Promise<Reply>): Promise<Body> {
  return (await ok(sent)).json<Body>();
}

/** Sends a request. The test reads the answer itself, or disconnects. */
export function open(
  url: string,
  { method, key, headers = {}, body }: SendOptions = {},
): { readonly request: ClientRequest; readonly response: Promise<IncomingMessage> } {
  const content =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
      ? body
      : JSON.stringify(body);
  const request = httpRequest(url, {
    method: method ?? (content === undefined ? 'GET' : 'POST'),
    agent,
    headers: {
      ...(content === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
  });
  const response = once(request, 'response').then(([message]) => message as IncomingMessage);
  // An answer may arrive before the request is fully sent, and end the writing.
  request.on('error', () => {});
  // A client that disconnects early expects no answer; errors after that do not fail the test.
  response.catch(() => {});
  request.end(content);
  return { request, response };
}

const agent = new Agent({ keepAlive: true, maxSockets: 100 });

export function readFrames(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter((block) => block.trim() !== '')
    .map(readFrame);
}

function readFrame(block: string): Frame {
  const lines = block.split('\n').filter((line) => line !== '');
  const valueOf = (name: string) =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trim())
      .join('\n');
  const data = valueOf('data');
  return {
    event: valueOf('event') || null,
    data: data.startsWith('{') ? JSON.parse(data) : data,
    comment:
      lines
        .find((line) => line.startsWith(':'))
        ?.slice(1)
        .trim() ?? null,
  };
}
