// Writes what goes upstream: along the straight path when both sides speak one format, else through the canonical request.
import { lowerCustomTools } from '../canonical/custom-tools.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { inClientWords } from '../formats/client-words.ts';
import type { ClientFormat, UpstreamRequest, UpstreamTarget } from '../formats/format.ts';
import { upstreamFormats } from '../formats/registry.ts';
import type { ChosenRoute } from './route.ts';
import type { Asked } from './running.ts';
import type { AskedSearch } from './search.ts';

export type WrittenRequest =
  | { readonly transport: 'sandbox'; readonly request: CanonicalRequest; readonly ignored: readonly string[] }
  | {
      readonly transport: 'http';
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly ignored: readonly string[];
      /** The custom tools that were sent as functions: their calls are custom again in the answer. */
      readonly loweredTools: ReadonlySet<string>;
      /** Whether the model may think. */
      readonly mayThink: boolean;
    };

/** Where a request goes, and what it may use there. */
export type RouteLimits = {
  readonly route: ChosenRoute;
  /** null: the provider runs none. */
  readonly search: AskedSearch | null;
  readonly outputTokens: number;
};

type WrittenBody = UpstreamRequest & { readonly loweredTools: ReadonlySet<string> };
const none: ReadonlySet<string> = new Set();

/** Throws ApiError `invalid_request` on what the target cannot express or a shared credential must not pass. */
export function writeUpstreamRequest(asked: Asked, { route, search, outputTokens }: RouteLimits): WrittenRequest {
  const { gateway, key, format, request } = asked;
  if (route.transport === 'sandbox') {
    return {
      transport: 'sandbox',
      request: format.readRequest(request, route.passFields),
      ignored: format.ignoredFields?.(request) ?? [],
    };
  }
  const target: UpstreamTarget = {
    model: route.upstreamModel,
    stream: request.stream,
    maxOutputTokens: outputTokens,
    thinking: asked.model.supports.thinking,
    maxTokensField: route.kind.maxTokensField,
    passFields: route.passFields,
    ...(search && { searchesMax: search.searchesMax }),
  };
  const { body, ignored, loweredTools } = writeBody(asked, route, target);
  const hidden = gateway.providers.endUsers.hide(body, {
    accountId: key.accountId,
    format: route.format,
    wantsAccount: route.kind.wantsAccount ?? false,
    takesCacheSalt: route.provider.takesCacheSalt,
  });
  return {
    transport: 'http',
    path: route.kind.path(route.format, target),
    headers: route.kind.headers(route.provider.apiKey, asked.forwardable),
    body: JSON.stringify(route.kind.adaptBody ? route.kind.adaptBody(hidden, route.format) : hidden),
    ignored,
    loweredTools,
    mayThink: target.thinking && upstreamFormats[route.format].mayThink(body),
  };
}

function writeBody(
  { format, request }: Asked,
  route: Extract<ChosenRoute, { transport: 'http' }>,
  target: UpstreamTarget,
): WrittenBody {
  if (route.format === format.name) return { ...format.relay.writeRequest(request, target), loweredTools: none };
  const upstreamFormat = upstreamFormats[route.format];
  const read = format.readRequest(request, route.passFields);
  const lowered = route.kind.customTools ? { request: read, names: none, ignored: [] } : lowerCustomTools(read);
  const { body, ignored } = writeTranslated(format, () => upstreamFormat.writeRequest(lowered.request, target));
  return {
    body,
    ignored: [...(format.ignoredFields?.(request) ?? []), ...lowered.ignored, ...ignored],
    loweredTools: lowered.names,
  };
}

function writeTranslated({ fieldNames }: ClientFormat, write: () => UpstreamRequest): UpstreamRequest {
  try {
    return write();
  } catch (error) {
    throw inClientWords(error, fieldNames);
  }
}
