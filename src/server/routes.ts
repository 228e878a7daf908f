// Every URL of the gateway's public API. `reference/public-operations.ts` describes each, or its line in
// `sales.ts`.
import type { FastifyInstance } from 'fastify';
import { imageFilesPath } from '../domain/images/image-links.ts';
import { getDashboardDocument, getPublicDocument } from './api-documents.ts';
import { getBalance } from './balance.ts';
import { chargedHandler } from './charged.ts';
import { claudeCodeRoutes } from './claude-code.ts';
import { builtFolder } from './built-files.ts';
import type { Handler, ServerContext } from './context.ts';
import { getGeminiCount, getInputCount, getTokenCount } from './count-tokens.ts';
import { batchRoutes } from './batches/batch-routes.ts';
import { fileRoutes } from './batches/file-routes.ts';
import { messageBatchRoutes } from './batches/message-batch-routes.ts';
import { assetsPath, type DashboardFiles } from './dashboard-files.ts';
import { deviceLoginRoutes } from './device-login.ts';
import { DocsFiles, docsPath, rootFiles } from './docs-files.ts';
import { checkFormType, readFormBody } from './edit-form.ts';
import { getGoogleModel, getGoogleModels } from './google-models.ts';
import { readAddressedBody } from './google-paths.ts';
import { getHealth, getReadiness } from './health.ts';
import { getImageFile } from './image-files.ts';
import { checkContentType, readJsonBody } from './middleware/body.ts';
import type { MemoryWait } from './middleware/wait-for-memory.ts';
import { getMetrics } from './metrics/get-metrics.ts';
import { getModel, getModelInfo, getModels } from './models.ts';
import type { Route, Url } from './route.ts';
import { sales } from './sales.ts';
import { stripeWebhookBytesMax, stripeWebhookPath, takeStripeEvent } from './stripe-webhook.ts';
import { checkUploadType, readSoundForm } from './upload-form.ts';
import { getCacheReport, getUsage } from './usage.ts';
import type { Sockets } from './websocket/sockets.ts';

type Parts = { readonly dashboard: DashboardFiles; readonly sockets: Sockets };

export function routesOf(context: ServerContext, { dashboard, sockets }: Parts): readonly Route[] {
  const { config } = context.gateway;
  const docs = new DocsFiles(builtFolder('docs'), context);
  return [
    ...sales.map(({ url, endpoint, operation: _described, ...options }) =>
      work(url as Url<'POST'>, chargedHandler(context, endpoint, readerOf(options)), options),
    ),

    { ...read('/v1/responses', 'run', sockets.handler), queryKey: 'api_key' },

    work('/v1/messages/count_tokens', getTokenCount(context)),
    work('/v1/responses/input_tokens', getInputCount(context)),
    work('/v1beta/countTokens/*', getGeminiCount(context), { queryKey: 'key' }),

    read('/v1/models', 'optional', getModels(context)),
    read('/v1/models/info', 'optional', getModelInfo(context)),
    // Model ids may contain slashes.
    read('/v1/models/*', 'optional', getModel(context)),
    { ...read('/v1beta/models', 'optional', getGoogleModels(context)), queryKey: 'key' },
    { ...read('/v1beta/models/*', 'optional', getGoogleModel(context)), queryKey: 'key' },
    ...fileRoutes(context),
    ...batchRoutes(context),
    ...messageBatchRoutes(context),
    read('/v1/balance', 'usage', getBalance(context)),
    read('/v1/usage', 'usage', getUsage(context)),
    read('/v1/usage/prompt-cache', 'usage', getCacheReport(context)),

    ...claudeCodeRoutes(context),
    ...deviceLoginRoutes(context),

    // The signature in the link is the permission, so no key is needed.
    read(`${imageFilesPath}*`, 'none', getImageFile(context)),
    read(docsPath, 'none', docs.getPage()),
    read(`${docsPath}/*`, 'none', docs.getPage()),
    ...rootFiles.map((name) => read(`/${name}`, 'none', docs.getRootFile(name))),
    // Every other address that a browser opens is a page of the dashboard: `wantsPage` in
    // `server.ts`.
    read(`${assetsPath}*`, 'none', dashboard.getAsset()),
    {
      method: 'POST',
      url: stripeWebhookPath,
      auth: 'none',
      bodyBytesMax: stripeWebhookBytesMax,
      handler: takeStripeEvent(context),
    },

    read('/openapi.json', 'none', getPublicDocument(config)),
    read('/openapi-dashboard.json', 'none', getDashboardDocument(config)),

    read('/healthz', 'none', getHealth),
    read('/readyz', 'none', getReadiness(context)),
    read('/metrics', 'none', getMetrics(context)),
  ];
}

/** A request that runs a model or counts its tokens, charged or free. */
function work(url: Url<'POST'>, handler: Handler, options: Partial<Route> = {}): Route {
  return { method: 'POST', url, refusedUnderLoad: true, handler, ...options };
}

function read(url: Url<'GET'>, auth: Route['auth'] & string, handler: Handler): Route {
  return { method: 'GET', url, auth, handler };
}

export function addRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  memoryWait: MemoryWait,
): void {
  for (const { method, url, handler, form = false, heavy = false, ...route } of routes) {
    const { anyBody = method !== 'POST', ...config } = route;
    const check = config.isUpload ? checkUploadType : checkContentType;
    const onRequest = anyBody ? [] : [form ? checkFormType : check];
    app.route({
      method,
      url,
      onRequest,
      ...(heavy ? memoryWait.around(handler) : { handler }),
      config,
    });
  }
}

function readerOf({
  form,
  isUpload,
  modelInPath,
}: Pick<Route, 'form' | 'isUpload' | 'modelInPath'>) {
  if (modelInPath) return readAddressedBody(modelInPath);
  if (isUpload) return readSoundForm;
  return form ? readFormBody : readJsonBody;
}

/** The methods that a path accepts, for a 405; empty when the path does not exist. */
export function methodsAt(routes: readonly Route[], url: string): string[] {
  // The router ignores a slash at the end, too.
  const path = url.split('?')[0]!.replace(/(.)\/$/, '$1');
  const isHere = (pattern: string) =>
    new RegExp(
      `^${pattern.replaceAll('.', '\\.').replace(/\*$/, '.*').replaceAll(/:\w+/g, '[^/]+')}$`,
      's',
    ).test(path);
  return [...new Set(routes.filter((route) => isHere(route.url)).map((route) => route.method))];
}
