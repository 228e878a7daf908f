// Calls of the dashboard that no handler serves: the playground and the return from single sign-on.
// Origin, session and access are checked as for the others. The playground's endpoints are the
// public ones with a key of the account: the path names the key instead of a header.
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import type { KeyScope } from '../terms/key-scope.ts';
import type { Access, EndpointName } from './contract/endpoint.ts';
import { clientFormats } from '../formats/registry.ts';
import { geminiEndpoint } from '../gateway/sales/gemini-sale.ts';
import { imageEndpoint } from '../gateway/sales/image-sale.ts';
import { modelEndpoint } from '../gateway/sales/model-sale.ts';
import type { Endpoint } from '../gateway/stages.ts';
import { embeddingEndpoint } from '../gateway/tasks/embedding-sale.ts';
import { moderationEndpoint } from '../gateway/tasks/moderation-sale.ts';
import { rerankEndpoint } from '../gateway/tasks/rerank-sale.ts';
import { speechEndpoint } from '../gateway/tasks/speech-sale.ts';
import { transcriptionEndpoint } from '../gateway/tasks/transcription-sale.ts';
import { chargedHandler } from '../server/charged.ts';
import { dashboardApiPath, type Handler } from '../server/context.ts';
import type { DoorContext } from './context.ts';
import { checkScope, useKey } from '../server/middleware/authenticate.ts';
import { checkContentType, readJsonBody } from '../server/middleware/body.ts';
import type { MemoryWait } from '../server/middleware/wait-for-memory.ts';
import { checkUploadType, readSoundForm } from '../server/upload-form.ts';
import { noSuchKey } from './changes/keys.ts';
import { admitCaller, checkOrigin, requireWithinBudget } from './access.ts';
import { finishProvider } from './sign-in/auth.ts';

type Stream = {
  readonly access: Access;
  readonly handler: (context: DoorContext) => Handler;
  /** Runs when the caller may call, before the body is read. */
  readonly prepare?: (context: DoorContext) => (request: FastifyRequest) => Promise<void>;
  readonly config?: Pick<FastifyContextConfig, 'refusedUnderLoad' | 'publicUrl' | 'isUpload'>;
  /** Like a public route's: large bodies wait for memory before they are read. */
  readonly heavy?: boolean;
};

export const streams: Readonly<Record<EndpointName, Stream>> = {
  ...playground('/v1/responses', modelEndpoint(clientFormats.responses)),
  ...playground('/v1/chat/completions', modelEndpoint(clientFormats.chat)),
  ...playground('/v1/messages', modelEndpoint(clientFormats.messages)),
  ...playground('/v1beta/generateContent', geminiEndpoint, {
    publicUrl: '/v1beta/generateContent/*',
  }),
  ...playground('/v1/embeddings', embeddingEndpoint),
  ...playground('/v1/rerank', rerankEndpoint),
  ...playground('/v1/moderations', moderationEndpoint),
  ...playground('/v1/audio/speech', speechEndpoint),
  ...playground('/v1/audio/transcriptions', transcriptionEndpoint('transcriptions'), {
    isUpload: true,
  }),
  ...playground('/v1/images/generations', imageEndpoint, { scope: 'images', heavy: true }),
  'GET /auth/callback/oidc': { access: 'public', handler: finishProvider },
};

export function addStreams(
  app: FastifyInstance,
  context: DoorContext,
  memoryWait: MemoryWait,
): void {
  for (const [name, { access, handler, prepare, config, heavy = false }] of Object.entries(
    streams,
  )) {
    const [method, path] = name.split(' ') as ['GET' | 'POST', string];
    app.route({
      method,
      url: dashboardApiPath + path,
      config: { auth: 'none', ...config },
      onRequest: [
        ...(method === 'GET' ? [] : [checkOrigin(context)]),
        ...(method === 'GET' || config?.isUpload ? [] : [checkContentType]),
        admitCaller(context, access),
        ...(prepare ? [prepare(context)] : []),
        ...(config?.isUpload ? [checkUploadType] : []),
      ],
      ...(heavy ? memoryWait.around(handler(context)) : { handler: handler(context) }),
    });
  }
}

type PlaygroundOptions = {
  readonly scope?: KeyScope;
  readonly heavy?: boolean;
  readonly isUpload?: boolean;
  /** The public route. Left out: the same. */
  readonly publicUrl?: string;
};

/**
 * Returns a handler that runs and charges exactly like the public endpoint. Ignores a key in the
 * request's headers.
 */
function playground(
  url: `/v1${string}`,
  endpoint: Endpoint,
  { scope = 'run', heavy = false, isUpload = false, publicUrl = url }: PlaygroundOptions = {},
): Readonly<Record<EndpointName, Stream>> {
  const name: EndpointName = `POST /accounts/:account/keys/:key${url}`;
  const stream: Stream = {
    access: 'member',
    handler: (context) =>
      chargedHandler(context, endpoint, isUpload ? readSoundForm : readJsonBody),
    prepare: (context) => useKeyOfPath(context, scope),
    config: { refusedUnderLoad: true, publicUrl, isUpload },
    heavy,
  };
  return { [name]: stream };
}

/**
 * Throws ApiError: 404 when the account has no such key, and the same errors as a request with the
 * key itself.
 */
function useKeyOfPath(context: DoorContext, scope: KeyScope) {
  const { gateway, keys } = context;
  return async (request: FastifyRequest): Promise<void> => {
    const { account, key: keyId } = request.params as {
      readonly account: string;
      readonly key: string;
    };
    const key = await keys.findById(account, keyId);
    if (!key) throw noSuchKey();
    if (key === 'revoked')
      throw new ApiError('invalid_api_key', 'This API key was revoked. Use another.');
    useKey(gateway, key, request);
    const { session, account: membership } = request.caller!;
    await requireWithinBudget(context, membership!, { userId: session!.userId, keyId });
    checkScope(key, scope);
  };
}
