// Makes the images of one request, with the first route of its model that delivers any, in as many
// calls as its provider needs.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { ImageModel, ImageRoute, ImageTier, ImageUsage } from '../../terms/image-model.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type {
  ImageCall,
  ImageHttp,
  ImageJob,
  ImageJobFailed,
  ImageJobResult,
} from '../../providers/image-provider.ts';
import { sandboxImages } from '../../providers/sandbox/generate-images.ts';
import { callRoute, tryInOrder, type Callable, type StopSignals } from '../calling/call-route.ts';
import { withOwner, withoutSecrets } from '../calling/failure-message.ts';
import { blamesRequest } from '../calling/retry-policy.ts';
import type { Upstreams } from '../calling/upstreams.ts';
import type { ConnectedImageProvider } from '../routing/providers.ts';
import { readJsonEvents } from '../calling/read-events.ts';
import { modelEnded } from '../retirement.ts';
import { modelNotFound } from '../routing/route.ts';
import type { Hosts } from '../routing/routing.ts';
import { costOfMade, type MadeCost, type Making } from './made-cost.ts';

/** What making images needs of the program. */
export type Maker = {
  readonly hosts: Hosts;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
};

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
  { model, key: { mode, ownKeys } }: { readonly model: ImageModel; readonly key: ApiKey },
): readonly [ImageRouteChosen, ...ImageRouteChosen[]] {
  if (model.retirement?.isEnded) throw modelEnded(model);
  if (mode === 'test') return [{ provider: 'sandbox', upstreamModels: {}, connected: null }];
  const live = catalog.images.liveRoutes(model);
  const choose = ({ upstreamModels }: ImageRoute, connected?: ConnectedImageProvider | null) =>
    connected ? [{ provider: connected.name, upstreamModels, connected }] : [];
  const own = (isFirst: boolean) =>
    live.flatMap((route) =>
      ownKeys
        .filter(({ provider, goesFirst }) => provider === route.provider && goesFirst === isFirst)
        .flatMap((ownKey) => choose(route, providers.withOwnKey(ownKey)?.images)),
    );
  const operators = live.flatMap((route) => choose(route, providers.images.get(route.provider)));
  const [first, ...others] = [...own(true), ...operators, ...own(false)];
  if (!first) throw modelNotFound(model.id);
  return [first, ...others];
}

type ImagesToMake = Making & {
  readonly routes: readonly ImageRouteChosen[];
  readonly signals: StopSignals;
  /** They are drawn beside the calls of a model, whose record has their calls too. Left out: no. */
  readonly isBeside?: true;
  /** Shows an image while it is drawn. Left out: the request has none. */
  readonly show?: ImageJob['show'];
};

export type ImagesMade = MadeCost & {
  readonly provider: string;
  /** Calls of all routes. */
  readonly calls: number;
} & (
    | {
        readonly kind: 'made';
        /** At least one, perhaps fewer than asked for. */
        readonly images: readonly ImageBytes[];
      }
    | { readonly kind: 'failed'; readonly failure: UpstreamFailure }
  );

/**
 * Makes images on the first route that delivers any. Routes that are out of use come last. When a
 * provider refuses the request itself, no other is tried.
 */
export async function makeImages(gateway: Maker, asked: ImagesToMake): Promise<ImagesMade> {
  const { hosts, clock, log } = gateway;
  const { caller, model, request, inputs, mask, signals, isBeside, show } = asked;
  const job = {
    ...request,
    mode: model.mode,
    images: inputs,
    mask,
    show,
    signal: signals.running,
    clock,
  };
  const calling = { record: caller.record, clock, signal: job.signal };
  const draw = ({ route, baseUrl, connected }: CallableRoute, count: number, number: number) => {
    const facts = { route, baseUrl, isStream: false, number: isBeside ? null : number };
    const { upstreamModel } = route;
    return callRoute(calling, facts, ({ trace }) =>
      generate(connected, { ...job, upstreamModel, count }, imageHttpOver(hosts.upstreams, trace)),
    );
  };
  const routes = asked.routes.map((route) => callableOf(route, request));
  const { routing, takeCall } = hosts;
  const order = { routes, health: routing.health, takeCall, isSearch: false, signals };
  let lost = 0;
  let spoiled = 0;
  let calls = 0;
  const last = await tryInOrder<CallableRoute, RouteResult>(order, async (route) => {
    const counts = countsOf(route, request);
    // All at once.
    const drawing = counts.map((count, index) => draw(route, count, calls + index + 1));
    const results = await Promise.all(drawing);
    calls += counts.length;
    const failures = results.flatMap((result) => (result.kind === 'failure' ? result : []));
    // Calls with an account's own key are billed to the account by the provider.
    const isOwn = route.route.ownKeyId !== undefined;
    const lostCalls = isOwn ? [] : failures.filter(mayHaveDrawn);
    const imagesPerCall = request.count / results.length;
    lost += lostCalls.length * imagesPerCall;
    spoiled += lostCalls.filter(({ failure }) => failure.isCausedByAccount).length * imagesPerCall;
    if (failures.length < results.length) return { kind: 'made', route, results };
    // A failure that the client can act on is reported before one that may pass.
    const reported = failures.find(({ failure }) => blamesRequest(failure));
    const { failure } = reported ?? failures[0]!;
    return { kind: 'failure', route, failure: withOwner(failure, route.route) };
  });
  const { provider, connected } = last.route;
  const results = last.kind === 'made' ? last.results : [];
  const arrived = results.filter((result) => result.kind === 'images');
  const images = arrived.flatMap((result) => result.images).slice(0, request.count);
  const unread = arrived.reduce((sum, result) => sum + result.unread, 0);
  const isOwnKey = connected?.ownKeyId !== undefined;
  const made = { provider, isOwnKey, lost, spoiled, images, unread, usage: usageOf(results) };
  const shared = { ...costOfMade(asked, made, log), provider, calls };
  return last.kind === 'made'
    ? { ...shared, kind: 'made', images }
    : { ...shared, kind: 'failed', failure: last.failure };
}

type CallableRoute = ImageRouteChosen & Callable;

type RouteResult = { readonly route: CallableRoute } & (
  | { readonly kind: 'made'; readonly results: readonly ImageJobResult[] }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure }
);

function callableOf(route: ImageRouteChosen, { quality, resolution }: ImageRequest): CallableRoute {
  const { provider, upstreamModels, connected } = route;
  const tier = quality ?? resolution;
  const upstreamModel = (tier && upstreamModels[tier]) ?? '';
  const ownKeyId = connected?.ownKeyId;
  const name = { provider, upstreamModel, ...(ownKeyId !== undefined && { ownKeyId }) };
  return { ...route, route: name, baseUrl: connected?.baseUrl ?? null };
}

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

/** Returns the number of images for each call. */
function countsOf({ connected }: CallableRoute, { count }: ImageRequest): readonly number[] {
  const { imagesPerCall } = connected?.kind ?? sandboxImages;
  return imagesPerCall === 'many' ? [count] : Array.from({ length: count }, () => 1);
}

async function generate(
  provider: ConnectedImageProvider | null,
  job: ImageJob,
  http: ImageHttp,
): Promise<ImageJobResult> {
  if (!provider) return sandboxImages.generate(job);
  const result = await provider.kind.generate(job, { provider, http }).catch(failedStream);
  if (result.kind === 'images') return result;
  return { ...result, failure: withoutSecrets(result.failure, provider) };
}

function failedStream(error: unknown): ImageJobFailed {
  if (!(error instanceof UpstreamBroken)) throw error;
  return { kind: 'failure', failure: error.failure, requestSent: true };
}

/** Returns HTTP for image providers, over the same connection pools as all calls. */
export function imageHttpOver(upstreams: Upstreams, trace: TraceContext | null): ImageHttp {
  const sent = (call: ImageCall) => ({ ...call, trace, timeouts: call.provider.timeouts });
  return {
    send: (call) => upstreams.send({ ...sent(call), stream: false }),
    async open(call) {
      const reply = await upstreams.send({ ...sent(call), stream: true });
      return reply.kind === 'failure' ? reply : readJsonEvents(reply.chunks, call.answerBytesMax);
    },
  };
}
