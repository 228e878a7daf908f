// Makes the images of one request: by the first of its model's routes that delivers any, in as many calls as its provider needs.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { ImageMode, ImageModel, ImageTier } from '../canonical/image-model.ts';
import type { ImageRequest } from '../images/image-request.ts';
import type { ImageBytes } from '../lib/image.ts';
import type { ImageConnection, ImageJob, ImageJobFailed, ImageJobResult } from '../providers/image-provider.ts';
import { sandboxImages } from '../providers/registry.ts';
import type { Gateway, RequestTrace } from './gateway.ts';
import { imageHttpOver } from './image-http.ts';
import type { ConnectedImageProvider } from './providers.ts';
import { isCredentialRefused, nextStepAfter } from './retry-policy.ts';
import type { CallEnding, RouteName } from './route-health.ts';
import { modelNotFound } from './route.ts';
import { withoutProvider } from './upstream-error.ts';

export type ImageRouteChosen = {
  /** As it is told: in headers, logs and books. */
  readonly provider: string;
  readonly upstreamModels: Readonly<Partial<Record<ImageTier, string>>>;
  /** null: the sandbox. */
  readonly connected: ConnectedImageProvider | null;
};

/** All that are switched on, in order. Throws ApiError `model_not_found` when there is none. */
export function findImageRoutes(
  { catalog, providers }: Gateway,
  { model, mode }: { readonly model: ImageModel; readonly mode: 'live' | 'test' },
): readonly [ImageRouteChosen, ...ImageRouteChosen[]] {
  if (mode === 'test') return [{ provider: 'sandbox', upstreamModels: {}, connected: null }];
  const routes = catalog.images.liveRoutes(model).flatMap(({ provider, upstreamModels }) => {
    const connected = providers.images.get(provider);
    return connected ? [{ provider, upstreamModels, connected }] : [];
  });
  const [first, ...others] = routes;
  if (!first) throw modelNotFound(model.id);
  return [first, ...others];
}

export type ImagesToMake = {
  readonly routes: readonly ImageRouteChosen[];
  readonly mode: ImageMode;
  readonly request: ImageRequest;
  readonly inputs: readonly ImageBytes[];
  readonly trace: RequestTrace;
  readonly signal: AbortSignal;
};

/** `lost`: images that may have been made and never came. */
export type ImagesMade =
  /** At least one, perhaps fewer than were asked for. */
  | { readonly kind: 'made'; readonly provider: string; readonly images: readonly ImageBytes[]; readonly lost: number }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure; readonly lost: number };

/** Routes that are out of use come last. A refusal of the request itself ends the attempts. */
export async function makeImages(gateway: Gateway, asked: ImagesToMake): Promise<ImagesMade> {
  const isFree = (route: ImageRouteChosen) => !route.connected || gateway.routing.health.isFree(nameOf(route, asked));
  const ordered = [...asked.routes.filter(isFree), ...asked.routes.filter((route) => !isFree(route))];
  let failed: ImageJobFailed | null = null;
  let lost = 0;
  for (const route of ordered) {
    const results = await callRoute(gateway, route, asked);
    const images = results.flatMap((result) => (result.kind === 'images' ? result.images : []));
    const failures = results.flatMap((result) => (result.kind === 'failure' ? result : []));
    lost += failures.filter(mayHaveDrawn).length * (asked.request.count / results.length);
    if (images.length > 0) return { kind: 'made', provider: route.provider, images: images.slice(0, asked.request.count), lost };
    // What the client can act on is told before what may pass.
    failed = failures.find(({ failure }) => nextStepAfter(failure) === 'never') ?? failures[0]!;
    if (asked.signal.aborted || nextStepAfter(failed.failure) === 'never') break;
  }
  if (!failed) throw new Error('an image model has no route');
  return { kind: 'failed', failure: failed.failure, lost };
}

/** Whoever refused, or was never reached, made none; of a provider that broke off, or that we left, we cannot know. */
function mayHaveDrawn({ failure, requestSent }: ImageJobFailed): boolean {
  return requestSent && failure.kind !== 'status';
}

async function callRoute(gateway: Gateway, route: ImageRouteChosen, asked: ImagesToMake): Promise<readonly ImageJobResult[]> {
  const { mode, request, inputs, trace, signal } = asked;
  const { size, quality, aspectRatio, resolution, outputFormat, prompt } = request;
  const { upstreamModel } = nameOf(route, asked);
  const { imagesPerCall } = route.connected?.kind ?? sandboxImages;
  const counts = imagesPerCall === 'many' ? [request.count] : Array.from({ length: request.count }, () => 1);
  trace.provider = route.provider;
  trace.attempts = (trace.attempts ?? 0) + counts.length;
  const shape = { size, quality, aspectRatio, resolution, outputFormat };
  const job = { upstreamModel, mode, prompt, images: inputs, ...shape, signal, clock: gateway.clock };
  return Promise.all(counts.map((count) => callOnce(gateway, route, { ...job, count })));
}

async function callOnce(gateway: Gateway, { connected }: ImageRouteChosen, job: ImageJob): Promise<ImageJobResult> {
  if (!connected) return sandboxImages.generate(job, noConnection);
  const { health } = gateway.routing;
  const name = { provider: connected.name, upstreamModel: job.upstreamModel };
  let ending: CallEnding = 'unknown';
  const startedAtMs = gateway.clock.elapsedMs();
  health.begin(name);
  try {
    const result = await connected.kind.generate(job, { provider: connected, http: imageHttpOver(gateway.upstreams) });
    if (result.kind === 'images') ending = 'good';
    else if (!job.signal.aborted) ending = noteFailure(gateway, name, result.failure);
    return result.kind === 'images' ? result : withoutNames(result, connected);
  } finally {
    health.end(name, ending);
    gateway.activity.noteCall({ provider: name.provider, kind: 'whole', ending, ms: gateway.clock.elapsedMs() - startedAtMs });
  }
}

function noteFailure({ log }: Gateway, { provider, upstreamModel }: RouteName, failure: UpstreamFailure): CallEnding {
  const fields = { provider, model: upstreamModel, kind: failure.kind, upstream_status: failure.status };
  if (isCredentialRefused(failure.status)) {
    log.error(fields, 'the provider refuses its credential or wants money: no request through it can succeed');
    return 'refused';
  }
  log.warn(fields, 'the provider of images failed');
  return nextStepAfter(failure) === 'never' ? 'good' : 'bad';
}

function withoutNames(failed: ImageJobFailed, provider: ConnectedImageProvider): ImageJobFailed {
  const { failure } = failed;
  return { ...failed, failure: { ...failure, message: withoutProvider(failure.message, provider) } };
}

function nameOf({ provider, upstreamModels }: ImageRouteChosen, { request }: Pick<ImagesToMake, 'request'>): RouteName {
  const tier = request.quality ?? request.resolution;
  return { provider, upstreamModel: (tier && upstreamModels[tier]) ?? '' };
}

/** The sandbox sends nothing anywhere. */
const noConnection: ImageConnection = {
  provider: {
    name: 'sandbox',
    baseUrl: 'http://sandbox',
    apiKey: null,
    timeouts: { connect_ms: 1, first_byte_ms: 1, idle_ms: 1, total_ms: 1 },
  },
  http: { send: () => Promise.reject(new Error('the sandbox was asked to send')) },
};
