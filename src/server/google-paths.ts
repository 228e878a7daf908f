// Google's clients put the model and the method into the path, below several versions and, for Vertex,
// below a project. Each such path becomes the route of its method: `/v1beta/models/a/b:generateContent`
// becomes `/v1beta/generateContent/a/b`.
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isObject } from '../lib/json.ts';
import { readJsonBody } from './middleware/body.ts';

const methods = [
  'generateContent',
  'streamGenerateContent',
  'countTokens',
  'embedContent',
  'batchEmbedContents',
];

/** Everything up to the model. */
const start =
  /^\/v1(?:alpha|beta1?)?(?:\/projects\/[^/?]+\/locations\/[^/?]+)?(?:\/publishers\/[^/?]+)?\/models(?=[/?]|$)/;

/** Some clients encode the colon. */
const end = /(?::|%3A)(\w+)$/i;

/**
 * Returns other addresses unchanged. `/v1/models` is the list of OpenAI's clients, unless the key comes
 * in Google's header.
 */
export function routeOfGoogle({ url = '', headers }: IncomingMessage): string {
  const [place] = start.exec(url) ?? [];
  if (place === undefined) return url;
  const rest = url.slice(place.length);
  const [path = '', query] = rest.split(/(\?.*)/s, 2);
  const [ending, method = ''] = end.exec(path) ?? [''];
  if (methods.includes(method))
    return `/v1beta/${method}${path.slice(0, -ending.length)}${query ?? ''}`;
  const isOpenAis = place === '/v1/models' && headers['x-goog-api-key'] === undefined;
  return isOpenAis ? url : `/v1beta/models${rest}`;
}

/** How a path says that the answer is streamed: by its method. */
export type ModelInPath = 'whole' | 'stream';

/**
 * Returns a reader that puts what the path says into the body: the model, and whether and how to
 * stream.
 */
export function readAddressedBody(kind: ModelInPath): (request: FastifyRequest) => unknown {
  return (request) => {
    const body = readJsonBody(request);
    if (!isObject(body)) return body;
    const { alt } = request.query as Readonly<Record<string, unknown>>;
    const { '*': model } = request.params as Readonly<Record<string, string>>;
    const isStream = kind === 'stream';
    return {
      ...body,
      model,
      stream: isStream,
      ...(isStream && { alt: alt === 'sse' ? 'sse' : 'json' }),
    };
  };
}
