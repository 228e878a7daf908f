// Endpoints of the dashboard's API whose bodies or answers are no JSON of the contract. They take the same steps before: origin, session,
// access. The playground's are the public endpoints once more, with a key of the account that the caller names instead of sending it.
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../canonical/errors.ts';
import type { Access, EndpointName } from '../../dashboard-contract/endpoint.ts';
import { UsageExportQuery } from '../../dashboard-contract/usage.ts';
import { clientFormats } from '../../formats/registry.ts';
import type { Endpoint } from '../../gateway/endpoint.ts';
import { imageEndpoint } from '../../gateway/image-work.ts';
import { modelEndpoint } from '../../gateway/model-work.ts';
import { runEndpoint } from '../charged.ts';
import type { Handler, ServerContext } from '../context.ts';
import { useKey } from '../middleware/authenticate.ts';
import { checkContentType } from '../middleware/body.ts';
import type { MemoryWait } from '../middleware/wait-for-memory.ts';
import { checkOrigin } from './access.ts';
import { finishProvider } from './auth.ts';
import { admitCaller, dashboardApiPath, queryReader } from './dispatch.ts';
import { sendUsageFile } from './usage-file.ts';

type Stream = {
  readonly access: Access;
  readonly handler: (context: ServerContext) => Handler;
  /** Runs when the caller may call, before the body is read. */
  readonly prepare?: (context: ServerContext) => (request: FastifyRequest) => Promise<void>;
  readonly config?: Pick<FastifyContextConfig, 'charged' | 'publicUrl'>;
  /** As that of a public route: its large bodies wait for room before they are read. */
  readonly heavy?: boolean;
};

export const streams: Readonly<Record<EndpointName, Stream>> = {
  ...playground('/v1/responses', modelEndpoint(clientFormats.responses)),
  ...playground('/v1/chat/completions', modelEndpoint(clientFormats.chat)),
  ...playground('/v1/messages', modelEndpoint(clientFormats.messages)),
  ...playground('/v1/images/generations', imageEndpoint, { heavy: true }),
  'GET /auth/callback/oidc': { access: 'public', handler: finishProvider },
  /** All records of `GET /accounts/:account/usage` that pass its filters. */
  'GET /accounts/:account/usage.csv': { access: 'member', handler: usageFile },
};

export function addDashboardStreams(app: FastifyInstance, context: ServerContext, memoryWait: MemoryWait): void {
  for (const [name, { access, handler, prepare, config, heavy = false }] of Object.entries(streams)) {
    const [method, path] = name.split(' ') as ['GET' | 'POST', string];
    app.route({
      method,
      url: dashboardApiPath + path,
      config: { auth: 'none', ...config },
      onRequest: [
        ...(method === 'GET' ? [] : [checkOrigin(context), checkContentType]),
        admitCaller(context, access),
        ...(prepare ? [prepare(context)] : []),
      ],
      handler: handler(context),
      ...(heavy && memoryWait.hooks),
    });
  }
}

function usageFile(context: ServerContext): Handler {
  const readQuery = queryReader(UsageExportQuery);
  return async (request, reply) => {
    const { accountId } = request.caller!.account!;
    return sendUsageFile(context, reply, { accountId, query: readQuery(request) as UsageExportQuery });
  };
}

/** Runs, and is charged, exactly as the public endpoint. A key that the request may carry besides is not looked at. */
function playground(url: `/v1/${string}`, endpoint: Endpoint, { heavy = false } = {}): Readonly<Record<EndpointName, Stream>> {
  const name: EndpointName = `POST /accounts/:account/keys/:key${url}`;
  const stream: Stream = {
    access: 'member',
    handler: (context) => runEndpoint(context, endpoint),
    prepare: useKeyOfPath,
    config: { charged: true, publicUrl: url },
    heavy,
  };
  return { [name]: stream };
}

/** Throws ApiError: 404 for a key that the account does not have, and whatever the key itself would be refused with. */
function useKeyOfPath({ gateway, keys }: ServerContext) {
  return async (request: FastifyRequest): Promise<void> => {
    const { account, key: keyId } = request.params as { readonly account: string; readonly key: string };
    const key = await keys.findById(account, keyId);
    if (!key) throw new ApiError('not_found', 'There is no such key in this account.');
    if (key === 'revoked') throw new ApiError('invalid_api_key', 'This API key was revoked. Use another.');
    useKey(gateway, key, request);
  };
}
