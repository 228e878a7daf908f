// Checks every answer of the gateways in this process against the API's description: status,
// headers, body, and each event of a stream, whoever the client is.
//
//   const answers = new DescribedAnswers({ serviceName: 'Service' });
//   answers.watch(port);
//   answers.problems   // `GET /v1/models 200: data/0/id must be string …`
import { ownDescriptions } from '../../src/server/sales.ts';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { dashboardDocument, publicDocument } from '../../src/reference/reference.ts';
import { readFrames } from './http.ts';
import type { Json } from './plain/reading.ts';

/** Longer bodies are not kept: tests of memory would see them. */
const bodyBytesMax = 4_000_000;

const settings = {
  service: { name: 'Service' },
  server: { public_url: null, body_limit_bytes: 1 },
};

class Description {
  readonly #document: Json;
  readonly #ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    // Optimised code takes twice as long to make, which few answers win back.
    code: { optimize: false },
  });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #paths: readonly (readonly [pattern: RegExp, path: string])[];

  /** `hasWildcards`: a parameter at the end may contain slashes. */
  constructor(document: Json, { hasWildcards = false } = {}) {
    this.#document = document;
    this.#ajv.addSchema(document, 'api');
    // Literal segments win over parameters, and further segments over slashes in them.
    const paths = Object.keys(document['paths'] as Json).toSorted(
      (one, other) => one.split('{').length - other.split('{').length || other.length - one.length,
    );
    // The routes of Google's methods: server/google-paths.ts.
    const routeOf = (path: string) => path.replace(/models\/(\{model\}):(\w+)$/, '$2/$1');
    this.#paths = paths.map((path) => [
      new RegExp(
        `^${routeOf(path)
          .replace(/\{\w+\}$/, hasWildcards && !path.startsWith('/admin/') ? '.+' : '[^/]+')
          .replaceAll(/\{\w+\}/g, '[^/]+')}/?$`,
      ),
      path,
    ]);
  }

  /** The JSON pointer of the operation; null when there is none. */
  find(method: string, path: string): string | null {
    const name = method.toLowerCase();
    const [, found] = this.#paths.find(([pattern]) => pattern.test(path)) ?? [];
    const isOperation = found !== undefined && this.#document['paths'][found][name] !== undefined;
    return isOperation ? `/paths/${escape(found)}/${name}` : null;
  }

  get(pointer: string): Json[string] {
    let value: Json[string] = this.#document;
    for (const name of pointer.split('/').slice(1))
      value = value?.[name.replaceAll('~1', '/').replaceAll('~0', '~')];
    return value;
  }

  /** Follows a reference. */
  resolve(pointer: string): string {
    const ref = this.get(pointer)?.$ref as string | undefined;
    return ref === undefined ? pointer : ref.slice(1);
  }

  /** Returns what is wrong with the value; null when nothing is. */
  check(pointer: string, value: unknown): string | null {
    let validate = this.#validators.get(pointer);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `api#${encodeURI(pointer)}` });
      this.#validators.set(pointer, validate);
    }
    if (validate(value)) return null;
    const errors = validate.errors!.slice(0, 4);
    const text = this.#ajv.errorsText(errors, { dataVar: '' });
    return `${text} ${JSON.stringify(errors[0]!.params)} in ${JSON.stringify(value).slice(0, 400)}`;
  }
}

const escape = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** By the experimental operations, which a test may add while others of its process have run. */
const apis = new Map<string, Description>();
function apiDescription(): Description {
  const own = ownDescriptions();
  const names = Object.keys(own).join();
  let api = apis.get(names);
  if (!api) {
    api = new Description(publicDocument(settings, own), { hasWildcards: true });
    apis.set(names, api);
  }
  return api;
}
let dashboard: Description | null = null;
const dashboardDescription = () => (dashboard ??= new Description(dashboardDocument(settings)));

type Finished = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** null: too long to be kept. */
  readonly body: string | null;
};

const watched = new Map<number, DescribedAnswers>();
let isListening = false;

export class DescribedAnswers {
  /** At most some of them, in the order in which they were found. */
  readonly problems: string[] = [];
  readonly #serviceName: string;

  constructor({ serviceName }: { readonly serviceName: string }) {
    this.#serviceName = serviceName;
  }

  /** Checks the answers of the server at this port of this process. */
  watch(port: number): void {
    watched.set(port, this);
    if (isListening) return;
    isListening = true;
    subscribe('http.server.response.created', (message) => {
      const { request, response } = message as {
        request: IncomingMessage;
        response: ServerResponse;
      };
      watched.get(request.socket.localPort ?? 0)?.record(request, response);
    });
  }

  unwatch(port: number): void {
    watched.delete(port);
  }

  record(request: IncomingMessage, response: ServerResponse): void {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const keep = (chunk: unknown) => {
      if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
      const piece = Buffer.from(chunk as string);
      bytes += piece.length;
      if (bytes <= bodyBytesMax) pieces.push(piece);
      else pieces.length = 0;
    };
    const write = response.write.bind(response);
    const end = response.end.bind(response);
    const writeHead = response.writeHead.bind(response);
    // Headers that are given here are not among `getHeaders()`.
    let head: OutgoingHttpHeaders = {};
    response.writeHead = (...given: unknown[]) => {
      const last = given.at(-1);
      if (typeof last === 'object' && last !== null) head = lowerCased(last);
      return writeHead(...(given as Parameters<typeof writeHead>));
    };
    response.write = (...given: unknown[]) => {
      keep(given[0]);
      return write(...(given as Parameters<typeof write>));
    };
    response.end = (...given: unknown[]) => {
      keep(given[0]);
      return end(...(given as Parameters<typeof end>));
    };
    response.once('finish', () => {
      this.#check({
        method: request.method!,
        path: request.url!.split('?')[0]!,
        status: response.statusCode,
        headers: { ...response.getHeaders(), ...head },
        body: bytes <= bodyBytesMax ? Buffer.concat(pieces).toString('utf8') : null,
      });
    });
  }

  #check(answer: Finished): void {
    if (answer.method === 'OPTIONS') return;
    const { method, path, status } = answer;
    const problem = this.#findProblem(answer);
    if (problem !== null && this.problems.length < 20)
      this.problems.push(`${method} ${path} ${status}: ${problem}`);
  }

  #findProblem(answer: Finished): string | null {
    const isDashboard = answer.path.startsWith('/dashboard-api/');
    const description = isDashboard ? dashboardDescription() : apiDescription();
    const method = answer.method === 'HEAD' ? 'GET' : answer.method;
    const operation = description.find(method, answer.path);
    if (operation === null) return findUnknownProblem(description, answer);
    const response = description.resolve(`${operation}/responses/${answer.status}`);
    if (!description.get(response)) return `the status is not described: ${answer.body}`;
    return (
      this.#findHeaderProblem(description, response, answer) ??
      findBodyProblem(description, response, answer)
    );
  }

  #findHeaderProblem(description: Description, response: string, { headers }: Finished) {
    const described = description.get(`${response}/headers`) as Json;
    const prefix = `x-${this.#serviceName.toLowerCase()}-`;
    for (const [name, value] of Object.entries(headers)) {
      if (
        !/^(?:x-|retry-after|request-id|(?:ratelimit|deprecation|sunset|link))/.test(name) ||
        ordinary.has(name)
      )
        continue;
      const known = name.startsWith(prefix) ? `x-service-${name.slice(prefix.length)}` : name;
      if (!described[known]) return `the header ${name} is not described`;
      const schema = description.resolve(`${response}/headers/${known}`);
      const read = description.get(`${schema}/schema/type`) === 'integer' ? Number(value) : value;
      const problem = description.check(`${schema}/schema`, read);
      if (problem !== null) return `the header ${name}: ${problem}`;
    }
    return null;
  }
}

function lowerCased(headers: object): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as string]),
  );
}

const ordinary = new Set(['x-content-type-options', 'x-accel-buffering', 'x-frame-options']);

/** An answer of a path that is not described: the error of its format, or a page. */
function findUnknownProblem(description: Description, answer: Finished): string | null {
  const type = String(answer.headers['content-type']);
  if (type.startsWith('text/html') || answer.method === 'HEAD' || answer.body === null) return null;
  if (answer.status < 400) return 'the operation is not described';
  const body = JSON.parse(answer.body) as Json;
  if (/^\/v1\/messages(?:\/|$)/.test(answer.path))
    return body['type'] === 'error' ? null : 'not an error of Messages';
  if (/^(?:\/upload)?\/v1(?:(?:alpha|beta1?)\/|\/(?:projects|publishers)\/)/.test(answer.path))
    return typeof body['error']?.status === 'string' ? null : 'not an error of Gemini';
  if (/^\/(?:dashboard-api|admin\/v1)\//.test(answer.path))
    return typeof body['code'] === 'string' ? null : 'not a problem';
  if (/^\/v1\/(?:chat\/)?completions(?:\/|$)/.test(answer.path))
    return description.check('/components/schemas/ChatErrorChunk', body);
  return description.check('/components/schemas/ErrorFields', body['error']);
}

function findBodyProblem(
  description: Description,
  response: string,
  { method, status, headers, body }: Finished,
): string | null {
  const content = description.get(`${response}/content`) as Json | undefined;
  if (body === null || method === 'HEAD') return null;
  if (!content) return body === '' ? null : 'a body is not described';
  const type = String(headers['content-type']).split(';')[0]!;
  // A browser gets its errors as a page.
  if (type === 'text/html' && status >= 400) return null;
  const mediaType = [type, `${type.split('/')[0]}/*`, '*/*'].find((name) => content[name]);
  if (mediaType === undefined) return `the content type ${type} is not described`;
  const pointer = `${response}/content/${escape(mediaType)}`;
  // Only files of the build are compressed; nothing describes what is in them.
  if (headers['content-encoding'] !== undefined) return null;
  if (/^application\/(?:problem\+)?json$/.test(type))
    return description.check(`${pointer}/schema`, JSON.parse(body));
  if (type === 'text/event-stream') return findEventProblem(description, pointer, body);
  return null;
}

function findEventProblem(description: Description, pointer: string, body: string): string | null {
  const item = `${pointer}/x-itemSchema/properties`;
  const terminator: unknown = description.get(`${pointer}/x-terminator`);
  for (const { event, data, comment } of readFrames(body)) {
    if (comment !== null && data === '') continue;
    if (data === terminator) continue;
    if ((event !== null) !== Boolean(description.get(`${item}/event`)))
      return `the event line ${event} is not as described`;
    const problem = description.check(`${item}/data/contentSchema`, data);
    if (problem !== null) return `an event: ${problem}`;
  }
  return null;
}
