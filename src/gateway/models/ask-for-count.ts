// Asks a model's providers, in order, for the number of input tokens of a request.
import type { Model } from '../../domain/catalog/model.ts';
import type { ClientRequest } from '../../formats/format.ts';
import { readCount, writeCountRequest } from '../../formats/messages/count-tokens.ts';
import { messages } from '../../formats/messages/index.ts';
import type { MessagesRequest } from '../../formats/messages/schema.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { abortAfter } from '../../lib/clock.ts';
import { ignoredBetas } from '../../formats/messages/betas.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { ForwardableHeaders } from '../../providers/provider.ts';
import { playCount } from '../../providers/registry.ts';
import { priceFactorFor } from '../charging/price-factor.ts';
import type { Gateway } from '../gateway.ts';
import type { RequestLog } from '../request-log.ts';
import type { ChosenRoute } from '../routing/route.ts';
import { readSearch } from '../routing/provider-search.ts';
import { targetOf } from '../routing/write-request.ts';
import { withImagesInlined, type NamedUrl } from './inline-images.ts';
import { answerMsMax, sendCount } from './send-count.ts';

type CountingRoute = ChosenRoute & {
  readonly kind: { readonly countTokensPath: (model: string) => string };
};

/** True when it counts a Messages request without running it; only Anthropic does. */
export function canCount(route: ChosenRoute): route is CountingRoute {
  return route.format === messages.name && route.kind.countTokensPath !== undefined;
}

export type CountQuestion = {
  readonly requestId: string;
  readonly key: ApiKey;
  readonly model: Model;
  readonly request: ClientRequest<MessagesRequest>;
  readonly routes: readonly CountingRoute[];
  readonly forwardable: ForwardableHeaders;
  readonly trace: TraceContext | null;
  readonly log: RequestLog;
  readonly signal: AbortSignal;
};

/** The reply of one provider. */
type Counted = { readonly inputTokens: number; readonly ignored: readonly string[] };

/** Returns null when no provider can count. Throws ApiError when the request itself is at fault. */
export async function askForCount(
  gateway: Gateway,
  question: CountQuestion,
): Promise<Counted | null> {
  const signal = AbortSignal.any([question.signal, abortAfter(gateway.clock, answerMsMax)]);
  // Refuses what may not be sent before fetching anything.
  for (const route of question.routes) write(gateway, { ...question, route });
  // The sandbox counts every image alike and fetches none.
  const isPlayed = question.routes.every((route) => route.isPlayed);
  const request = isPlayed
    ? question.request
    : await withImagesInlined(gateway, question.request, { signal, nameUrl: urlOfBlock });
  if (request === null) return null;
  for (const route of question.routes) {
    if (signal.aborted) return null;
    const counted = await ask(gateway, { ...question, request, route, signal });
    if (counted) return counted;
  }
  return null;
}

type Asking = CountQuestion & { readonly route: CountingRoute };

async function ask(gateway: Gateway, asking: Asking): Promise<Counted | null> {
  const { route, forwardable, log } = asking;
  const { body, ignored } = write(gateway, asking);
  log.note({ provider: route.name.provider });
  const inputTokens = route.isPlayed
    ? playCount({ format: route.format, body: JSON.stringify(body) })
    : await sendCount({
        ...asking,
        gateway,
        path: route.kind.countTokensPath(route.upstreamModel),
        headers: route.kind.headers(route.provider.apiKey, forwardable),
        body,
        read: readCount,
      });
  if (inputTokens === null) return null;
  return { inputTokens, ignored: [...ignored, ...ignoredBetas(forwardable['anthropic-beta'])] };
}

function urlOfBlock(path: string): NamedUrl {
  return { param: `${path}.source.url`, subject: `${path}.source.url` };
}

function write(gateway: Gateway, { key, model, request, route }: Asking) {
  const factor = priceFactorFor(gateway, key, model.id);
  const search = readSearch(gateway, { model, route, format: messages, request }, factor);
  const target = targetOf(
    { gateway, model, request },
    { route, search, outputTokens: model.maxOutputTokens },
  );
  const { body, ignored } = writeCountRequest(request, target);
  gateway.routing.noteUnknown(target.unknown.leftOut);
  return { body, ignored: [...ignored, ...target.unknown.leftOut] };
}
