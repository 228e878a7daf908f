// Every URL of the gateway's public API.
import type { FastifyInstance } from 'fastify';
import { clientFormats } from '../formats/registry.ts';
import { imageEditEndpoint, imageEndpoint } from '../gateway/images/image-work.ts';
import { modelEndpoint } from '../gateway/models/model-work.ts';
import { searchEndpoint } from '../gateway/search/search-work.ts';
import { imageFilesPath } from '../domain/images/image-links.ts';
import { getBalance } from './balance.ts';
import { runEndpoint } from './charged.ts';
import type { Handler, ServerContext } from './context.ts';
import { getInputCount, getTokenCount } from './count-tokens.ts';
import { assetsPath, type DashboardFiles } from './dashboard-files.ts';
import { checkFormType, readFormBody } from './edit-form.ts';
import { getHealth, getReadiness } from './health.ts';
import { getImageFile } from './image-files.ts';
import { checkContentType } from './middleware/body.ts';
import type { MemoryWait } from './middleware/wait-for-memory.ts';
import { getMetrics, type Metrics } from './metrics.ts';
import { getModel, getModelInfo, getModels } from './models.ts';
import { stripeWebhookBytesMax, stripeWebhookPath, takeStripeEvent } from './stripe-webhook.ts';
import { getUsage } from './usage.ts';

export type Route = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly auth: 'required' | 'optional' | 'none';
  readonly handler: Handler;
  readonly queryKey?: boolean;
  readonly charged?: boolean;
  /** Accepts a form as body. */
  readonly form?: boolean;
  /** Keeps its body in memory while it runs: large bodies wait for room before they are read. */
  readonly heavy?: boolean;
  /** Limit of the body; default: `server.body_limit_bytes`. */
  readonly bodyBytesMax?: number;
};

type Sources = { readonly metrics: Metrics; readonly dashboard: DashboardFiles };

export function routesOf(
  context: ServerContext,
  { metrics, dashboard }: Sources,
): readonly Route[] {
  return [
    {
      method: 'POST',
      url: '/v1/responses',
      auth: 'required',
      queryKey: true,
      charged: true,
      handler: runEndpoint(context, modelEndpoint(clientFormats.responses)),
    },
    {
      method: 'POST',
      url: '/v1/chat/completions',
      auth: 'required',
      charged: true,
      handler: runEndpoint(context, modelEndpoint(clientFormats.chat)),
    },
    {
      method: 'POST',
      url: '/v1/messages',
      auth: 'required',
      charged: true,
      handler: runEndpoint(context, modelEndpoint(clientFormats.messages)),
    },
    {
      method: 'POST',
      url: '/v1/images/generations',
      auth: 'required',
      charged: true,
      heavy: true,
      handler: runEndpoint(context, imageEndpoint),
    },
    {
      method: 'POST',
      url: '/v1/images/edits',
      auth: 'required',
      charged: true,
      form: true,
      heavy: true,
      handler: runEndpoint(context, imageEditEndpoint, readFormBody),
    },
    {
      method: 'POST',
      url: '/v1/web-search',
      auth: 'required',
      charged: true,
      handler: runEndpoint(context, searchEndpoint),
    },
    {
      method: 'POST',
      url: '/v1/messages/count_tokens',
      auth: 'required',
      charged: true,
      handler: getTokenCount(context),
    },
    {
      method: 'POST',
      url: '/v1/responses/input_tokens',
      auth: 'required',
      charged: true,
      handler: getInputCount(context),
    },

    { method: 'GET', url: '/v1/models', auth: 'optional', handler: getModels(context) },
    { method: 'GET', url: '/v1/models/info', auth: 'optional', handler: getModelInfo(context) },
    // Model ids may contain slashes.
    { method: 'GET', url: '/v1/models/*', auth: 'optional', handler: getModel(context) },

    { method: 'GET', url: '/v1/balance', auth: 'required', handler: getBalance(context) },
    { method: 'GET', url: '/v1/usage', auth: 'required', handler: getUsage(context) },

    // The signature in the link is the permission, so no key is needed.
    { method: 'GET', url: `${imageFilesPath}*`, auth: 'none', handler: getImageFile(context) },

    // Every other address that a browser opens is a page of the dashboard: `wantsPage` in
    // `server.ts`.
    { method: 'GET', url: `${assetsPath}*`, auth: 'none', handler: dashboard.getAsset() },
    {
      method: 'POST',
      url: stripeWebhookPath,
      auth: 'none',
      bodyBytesMax: stripeWebhookBytesMax,
      handler: takeStripeEvent(context),
    },

    { method: 'GET', url: '/healthz', auth: 'none', handler: getHealth() },
    { method: 'GET', url: '/readyz', auth: 'none', handler: getReadiness(context) },
    {
      method: 'GET',
      url: '/metrics',
      auth: 'none',
      handler: getMetrics(metrics, context.gateway.config.metrics.token),
    },
  ];
}

export function addRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  memoryWait: MemoryWait,
): void {
  for (const { method, url, handler, form = false, heavy = false, ...config } of routes) {
    const onRequest = method === 'POST' ? [form ? checkFormType : checkContentType] : [];
    app.route({
      method,
      url,
      onRequest,
      ...(heavy ? memoryWait.around(handler) : { handler }),
      config,
    });
  }
}

/** The methods that a path accepts, for a 405; empty when the path does not exist. */
export function methodsAt(routes: readonly Route[], url: string): string[] {
  // The router ignores a slash at the end, too.
  const path = url.split('?')[0]!.replace(/(.)\/$/, '$1');
  const matches = (pattern: string) =>
    pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
  return [...new Set(routes.filter((route) => matches(route.url)).map((route) => route.method))];
}
