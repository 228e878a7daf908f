// The answer for a path that does not exist. For endpoints that clients of OpenAI, Anthropic and
// Google know, it names what is offered instead.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import { isGooglePath } from '../formats/registry.ts';
import { isAtOrBelow } from './dashboard-files.ts';
import type { Route } from './route.ts';
import { methodsAt } from './routes.ts';

const stateless = 'Nothing is kept between requests: send the whole conversation';
const noFiles =
  'Files are for batches only: put images and documents into the request itself, as URLs or base64';

/** Advice by path. The first entry that equals the path or contains it applies. */
const advice: readonly (readonly [path: string, instead: string])[] = [
  [
    '/v1/responses',
    `${stateless} as \`input\` to POST /v1/responses. Its tokens are counted by POST /v1/responses/input_tokens.`,
  ],
  ['/v1/chat/completions', `${stateless} as \`messages\` to POST /v1/chat/completions.`],
  ['/v1/chat', 'Send `messages` to POST /v1/chat/completions.'],
  ['/v1/messages/batches', 'POST /v1/messages/batches takes the requests of a batch.'],
  ['/v1/messages', `${stateless} as \`messages\` to POST /v1/messages.`],
  ['/v1/complete', 'Send the prompt as a user message to POST /v1/messages.'],
  ['/v1/batches', 'POST /v1/batches runs the requests in a file.'],
  ['/v1/files', `${noFiles}.`],
  ['/v1/uploads', `${noFiles}.`],
  ['/v1/containers', `${noFiles}.`],
  ['/v1/vector_stores', `${noFiles}; POST /v1/web-search searches the web.`],
  [
    '/v1/audio',
    'POST /v1/audio/speech speaks a text, and POST /v1/audio/transcriptions and /v1/audio/translations write down what is said.',
  ],
  [
    '/v1/realtime',
    'There are no sessions: POST /v1/responses with `stream: true` sends the answer as it is written.',
  ],
  ['/v1/videos', 'No model here makes videos; POST /v1/images/generations makes images.'],
  ['/v1/images', 'POST /v1/images/generations draws, and POST /v1/images/edits changes an image.'],
  ['/v1/assistants', `${stateless} and the instructions to POST /v1/responses.`],
  ['/v1/threads', `${stateless} as \`input\` to POST /v1/responses.`],
  ['/v1/conversations', `${stateless} as \`input\` to POST /v1/responses.`],
  ['/v1/fine_tuning', 'Models are not trained here; GET /v1/models lists what there is.'],
  ['/v1/search', 'POST /v1/web-search searches the web.'],
  [
    '/v1/organization',
    'GET /v1/usage lists what each request cost, and GET /v1/balance what is left.',
  ],
  [
    '/v1/organizations',
    'GET /v1/usage lists what each request cost, and GET /v1/balance what is left.',
  ],
  ['/v1/credits', 'GET /v1/balance says what is left.'],
  ['/v1/key', 'GET /v1/balance says what is left; keys are made in the dashboard.'],
  ['/v1/usage', 'GET /v1/usage takes `?request_id=`, `?from=`, `?to=`, `?model=` and `?key=`.'],
  ['/admin', 'The admin API lives under /admin/v1; GET /openapi.json describes it.'],
  [
    '/v1/v1',
    'The base address already ends with /v1, which the client adds by itself: leave it out there.',
  ],
];

const geminiMethods =
  'Models take `:generateContent`, `:streamGenerateContent`, `:countTokens`, `:embedContent` and `:batchEmbedContents` here';

/** Advice for Google's clients, by a part of the path. */
const googleAdvice: readonly (readonly [part: RegExp, instead: string])[] = [
  [/^\/v1\w+\/v1/, 'The client adds the version by itself: leave it out of the base URL.'],
  [
    /\/files\b/,
    'No files are kept: put images and documents into `inlineData`, or send the web address of one in `fileData`.',
  ],
  [
    /\/cachedContents\b/,
    'No caches are kept: send the content itself. A prompt that begins like an earlier one is cached by the provider, unasked.',
  ],
  [
    /\/batches\b|:batchGenerateContent/,
    `POST /v1/batches runs the requests in a file. ${geminiMethods}.`,
  ],
  [/./, `${geminiMethods}; GET /v1beta/models lists the models.`],
];

/** Endpoints that clients request without the prefix. */
const belowV1 = [
  '/responses',
  '/chat/completions',
  '/completions',
  '/messages',
  '/models',
  '/embeddings',
  '/audio',
  '/rerank',
  '/moderations',
  '/files',
  '/batches',
  '/images',
  '/web-search',
  '/balance',
  '/usage',
];

/** Returns the 404, the 426 for a WebSocket, or the 405 when the path accepts other methods. */
export function unknownEndpoint(
  routes: readonly Route[],
  request: FastifyRequest,
  reply: FastifyReply,
): ApiError {
  const path = request.originalUrl.split('?')[0]!.slice(0, 100);
  // The last part of a model's path is a method of Google's, and no address.
  const isMethod = isGooglePath(path) && request.url.includes(':');
  const methods = isMethod ? [] : methodsAt(routes, request.url);
  if (methods.length === 0 || methods.includes(request.method))
    return new ApiError(
      'not_found',
      `There is no ${request.method} ${path} here. ${insteadOf(path)}`,
    );
  reply.header('allow', methods.join(', '));
  if (/\bwebsocket\b/i.test(request.headers.upgrade ?? '')) {
    // Codex tries this first, and sends its request by POST at once after a 426.
    reply.headers({ upgrade: 'HTTP/1.1', connection: 'upgrade, close' });
    return new ApiError(
      'upgrade_required',
      `There is no WebSocket at ${path}: send the request by ${methods.join(' or ')}.`,
    );
  }
  return new ApiError(
    'method_not_allowed',
    `${path} takes ${methods.join(' or ')}, not ${request.method}.`,
  );
}

function insteadOf(path: string): string {
  if (isGooglePath(path)) return googleAdvice.find(([part]) => part.test(path))![1];
  const known = advice.find(([start]) => isAtOrBelow(start, path));
  if (known) return known[1];
  const prefixless = belowV1.find((start) => isAtOrBelow(start, path));
  if (prefixless) return `The API lives under /v1: ask for /v1${prefixless}.`;
  return 'The API lives under /v1; see GET /v1/models, and the documentation at /docs.';
}
