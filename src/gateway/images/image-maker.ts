// Makes the images of one request, with the first route of its model that delivers any, in as many
// calls as its provider needs.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { ImageMode, ImageModel, ImageTier, ImageUsage } from '../../canonical/image-model.ts';
import type { Mode } from '../../canonical/mode.ts';
import type { ProviderCall } from '../../canonical/request-events.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type {
  ImageConnection,
  ImageJob,
  ImageJobFailed,
  ImageJobResult,
} from '../../providers/image-provider.ts';
import { sandboxImages } from '../../providers/registry.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RequestRecord } from '../request-record.ts';
import type { Run } from '../active-runs.ts';
import { imageHttpOver } from './image-http.ts';
import type { ConnectedImageProvider } from '../routing/providers.ts';
import type { Hosts } from '../routing/routing.ts';
import { nextStepAfter } from '../calling/retry-policy.ts';
import { callRoute, newCall } from '../calling/call-route.ts';
import type { RouteName } from '../calling/health.ts';
import { modelNotFound } from '../routing/route.ts';
import { availableFirst, tryRoutes } from '../calling/try-routes.ts';
import { withoutProvider } from '../calling/failure-message.ts';

/** What making images needs of the program. */
type Maker = { readonly hosts: Hosts; readonly clock: Clock };

export type ImageRouteChosen = {
  /** As shown in headers, logs and books. */
  readonly provider: string;
  readonly upstreamModels: Readonly<Partial<Record<ImageTier, string>>>;
  /** null: the sandbox. */
  readonly connected: ConnectedImageProvider | null;
};

/** Returns the active routes in order. Throws ApiError `model_not_found` when there is none. */
export function findImageRoutes(
  { catalog, providers }: Pick<Hosts, 'catalog' | 'providers'>,
  { model, mode }: { readonly model: ImageModel; readonly mode: Mode },
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

type ImagesToMake = {
  readonly routes: readonly ImageRouteChosen[];
  readonly mode: ImageMode;
  readonly request: ImageRequest;
  readonly inputs: readonly ImageBytes[];
  readonly record: RequestRecord;
  readonly signals: Pick<Run, 'waiting' | 'running'>;
};

/**
 * `lost`: images that may have been made and never arrived. `spoiled`: those of them that the account
 * could cause. `calls`: of all routes.
 */
export type ImagesMade =
  /**
   * At least one image, perhaps fewer than asked for. `unread`: what came with them and is no image.
   * `usage`: the provider's count for all of them; null: none.
   */
  | {
      readonly kind: 'made';
      readonly provider: string;
      readonly images: readonly ImageBytes[];
      readonly unread: number;
      readonly usage: ImageUsage | null;
      readonly lost: number;
      readonly spoiled: number;
      readonly calls: number;
    }
  | {
      readonly kind: 'failed';
      readonly failure: UpstreamFailure;
      readonly provider: string;
      readonly lost: number;
      readonly spoiled: number;
      readonly calls: number;
    };

/**
 * Makes images on the first route that delivers any. Routes that are out of use come last. When a
 * provider refuses the request itself, no other is tried.
 */
export async function makeImages(gateway: Maker, asked: ImagesToMake): Promise<ImagesMade> {
  const { routing } = gateway.hosts;
  const { request, signals } = asked;
  const [first, ...others] = availableFirst(
    asked.routes,
    (route) => !route.connected || routing.health.isAvailable(nameOf(route, asked)),
  );
  let lost = 0;
  let spoiled = 0;
  let calls = 0;
  const tried = await tryRoutes<ImageRouteChosen, Tried>(first!, {
    async call(route) {
      const counts = countsOf(route, asked);
      const results = await callRouteFor(gateway, { route, counts, before: calls }, asked);
      calls += counts.length;
      const failures = results.flatMap((result) => (result.kind === 'failure' ? result : []));
      const lostCalls = failures.filter(mayHaveDrawn);
      const imagesPerCall = request.count / results.length;
      lost += lostCalls.length * imagesPerCall;
      spoiled += lostCalls.filter(({ failure }) => failure.isProvoked).length * imagesPerCall;
      if (failures.length < results.length) return { kind: 'made', route, results };
      // A failure that the client can act on is reported before one that may pass.
      const reported = failures.find(({ failure }) => nextStepAfter(failure) === 'never');
      return { kind: 'failure', route, failure: (reported ?? failures[0]!).failure };
    },
    nextAfter: ({ failure }) =>
      signals.waiting.aborted || nextStepAfter(failure) === 'never'
        ? null
        : (others.shift() ?? null),
  });
  const { provider } = tried.route;
  const totals = { provider, lost, spoiled, calls };
  if (tried.kind === 'failure') return { kind: 'failed', failure: tried.failure, ...totals };
  const made = tried.results.filter((result) => result.kind === 'images');
  return {
    kind: 'made',
    images: made.flatMap(({ images }) => images).slice(0, request.count),
    unread: made.reduce((sum, { unread }) => sum + unread, 0),
    usage: usageOf(tried.results),
    ...totals,
  };
}

type Tried = { readonly route: ImageRouteChosen } & (
  | { readonly kind: 'made'; readonly results: readonly ImageJobResult[] }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure }
);

/** Returns the provider's usage. Providers that need several calls report none. */
function usageOf([first, ...others]: readonly ImageJobResult[]): ImageUsage | null {
  return first?.kind === 'images' && others.length === 0 ? (first.usage ?? null) : null;
}

/**
 * Returns true when images may have been made and lost. A provider that refused or was never
 * reached made none. When it broke off, or we left, we cannot know.
 */
function mayHaveDrawn({ failure, requestSent, isTaken = false }: ImageJobFailed): boolean {
  return isTaken || (requestSent && failure.kind !== 'status');
}

/** Number of images for each call. */
function countsOf(
  { connected }: ImageRouteChosen,
  { request: { count } }: ImagesToMake,
): readonly number[] {
  const { imagesPerCall } = connected?.kind ?? sandboxImages;
  return imagesPerCall === 'many' ? [count] : Array.from({ length: count }, () => 1);
}

type RouteImages = {
  readonly route: ImageRouteChosen;
  /** Images of each call. */
  readonly counts: readonly number[];
  /** How many calls other routes have had. */
  readonly before: number;
};

/** Makes all calls of one route at once. */
async function callRouteFor(
  gateway: Maker,
  { route, counts, before }: RouteImages,
  asked: ImagesToMake,
): Promise<readonly ImageJobResult[]> {
  const { mode, request, inputs, record, signals } = asked;
  const { connected } = route;
  const { size, quality, aspectRatio, resolution, outputFormat, prompt } = request;
  const name = nameOf(route, asked);
  const shape = { size, quality, aspectRatio, resolution, outputFormat };
  const job = {
    upstreamModel: name.upstreamModel,
    mode,
    prompt,
    images: inputs,
    ...shape,
    signal: signals.running,
    clock: gateway.clock,
  };
  const { clock } = gateway;
  const baseUrl = connected?.baseUrl ?? null;
  const isStopped = () => signals.running.aborted;
  const draw = (count: number, index: number) => {
    const facts = { route: name, baseUrl, isStream: false, number: before + index + 1 };
    const call = newCall({ record, clock }, facts);
    return callRoute({ record, clock, call, isStopped }, () =>
      generate(gateway, { connected, trace: call.trace }, { ...job, count }),
    );
  };
  return Promise.all(counts.map(draw));
}

type Caller = Pick<ImageRouteChosen, 'connected'> & Pick<ProviderCall, 'trace'>;

async function generate(
  gateway: Maker,
  { connected, trace }: Caller,
  job: ImageJob,
): Promise<ImageJobResult> {
  if (!connected) return sandboxImages.generate(job, noConnection);
  const http = imageHttpOver(gateway.hosts.upstreams, trace);
  const result = await connected.kind.generate(job, { provider: connected, http });
  return result.kind === 'images' ? result : withoutNames(result, connected);
}

function withoutNames(failed: ImageJobFailed, provider: ConnectedImageProvider): ImageJobFailed {
  const { failure } = failed;
  return {
    ...failed,
    failure: { ...failure, message: withoutProvider(failure.message, provider) },
  };
}

function nameOf(
  { provider, upstreamModels }: ImageRouteChosen,
  { request }: Pick<ImagesToMake, 'request'>,
): RouteName {
  const tier = request.quality ?? request.resolution;
  return { provider, upstreamModel: (tier && upstreamModels[tier]) ?? '' };
}

/** The sandbox sends nothing. */
const noConnection: ImageConnection = {
  provider: {
    name: 'sandbox',
    baseUrl: 'http://sandbox',
    apiKey: null,
    timeouts: { connect_ms: 1, first_byte_ms: 1, idle_ms: 1, total_ms: 1 },
  },
  http: { send: () => Promise.reject(new Error('the sandbox was asked to send')) },
};
