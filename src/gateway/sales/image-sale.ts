// A request for images: fetches inputs, makes images, stores them, and charges for those delivered.
import { ApiError } from '../../canonical/errors.ts';
import { modelTypes } from '../../terms/model-type.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import { editSiblingOf } from '../../domain/catalog/image-catalog.ts';
import { unitPrice } from '../../domain/catalog/image-price.ts';
import { maximumPrice } from '../../domain/catalog/image-token-price.ts';
import type { JsonObject } from '../../lib/json.ts';
import { dayMs, hourMs, nextDayMs } from '../../lib/utc-time.ts';
import { checkImageRequest, parseImageRequest } from '../../domain/images/image-request.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ImageBytes } from '../../lib/image.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { IncomingRequest } from '../request.ts';
import type { Endpoint, Sale } from '../stages.ts';
import type { Gateway } from '../gateway.ts';
import { writeNames } from '../headers.ts';
import { retirementHeaders } from '../retirement.ts';
import { findImageRoutes, makeImages, type ImageRouteChosen } from '../images/image-maker.ts';
import type { Making } from '../images/made-cost.ts';
import { saleOfUnits, type Delivery, type UnitsForSale } from './units.ts';
import { ownKeyTermsOf, priceFactorFor } from '../routing/price-factor.ts';
import { otherTypeOfModel, unknownModel } from '../admission/permitted-model.ts';
import { modelNotFound } from '../routing/route.ts';
import type { Run } from '../active-runs.ts';
import { toModelError } from '../calling/failure-message.ts';

/** Throws ApiError 400 or 404. */
export const imageEndpoint: Endpoint = (gateway, incoming) =>
  readImages(gateway, incoming, (model) => model);

/**
 * Edits images. OpenAI's clients send the plain id of a model: one that only draws from text is
 * replaced by its sibling that edits.
 */
export const imageEditEndpoint: Endpoint = (gateway, incoming) =>
  readImages(gateway, incoming, (model, imageCount) =>
    editSiblingOf(gateway.hosts.catalog.images, model, imageCount),
  );

function readImages(
  gateway: Gateway,
  incoming: IncomingRequest,
  choose: (named: ImageModel, imageCount: number) => ImageModel,
): Sale {
  const raw = parseImageRequest(incoming.body);
  const { key, record } = incoming.caller;
  record.note({ askedModel: raw.model });
  const named = gateway.hosts.catalog.images.resolve(raw.model);
  if (!named) {
    const other = gateway.hosts.catalog.resolve(raw.model);
    if (other) throw otherTypeOfModel(raw.model, modelTypes[other.type]);
    throw unknownModel(gateway, { key, name: raw.model, type: 'image' });
  }
  const model = choose(named, raw.images.length);
  const routes = findImageRoutes(gateway.hosts, { model, key });
  const [{ provider, upstreamModels }] = routes;
  const request = checkImageRequest(raw, model);
  const route = `${provider} ${Object.values(upstreamModels).join(' ')}`;
  const headers = retirementHeaders(model.retirement);
  const { body, prompt } = request;
  const asked = { modelId: model.id, provider, route, headers, body, prompt: () => prompt };
  return saleOfUnits(asked, (accepted) => {
    const factor = priceFactorFor(gateway, key, model.id);
    const { caller } = accepted;
    const ownKey = ownKeyTermsOf(gateway);
    const drawing = { gateway, caller, model, routes, request, factor, ownKey };
    return { units: unitsOf(drawing), deliver: ({ running }) => deliver(drawing, running.run) };
  });
}

type Drawing = Omit<Making, 'inputs' | 'mask'> & {
  readonly gateway: Gateway;
  readonly routes: readonly [ImageRouteChosen, ...ImageRouteChosen[]];
};

function unitsOf({ model, routes, request, factor, ownKey }: Drawing): UnitsForSale {
  const inputs = [...request.images, ...(request.mask === null ? [] : ['mask'])];
  const image = { ...request, inputs: inputs.map(() => null) };
  const most = maximumPrice(model, image, { prompt: estimateInputTokens(request.prompt), factor });
  const likely = unitPrice(model, image, factor);
  if (!most || !likely) throw modelNotFound(model.id);
  const isOwn = ({ connected }: ImageRouteChosen) => connected?.ownKeyId !== undefined;
  const feePicos = routes.some(isOwn) ? ownKey.feePicos : 0n;
  const { listPicos, upstreamPicos } = most.request;
  return {
    most: { ...most, request: { listPicos: listPicos + feePicos, upstreamPicos } },
    likelyPicos: isOwn(routes[0]) ? 0n : likely.upstreamPicos * BigInt(request.count),
    endpoint: 'images',
    modelName: model.displayName,
    unit: { one: 'image', many: 'images', counted: 'image' },
    count: request.count,
    countField: 'n',
  };
}

async function deliver(drawing: Drawing, signals: Run): Promise<Delivery> {
  const { gateway, model, request, routes } = drawing;
  const inputs = await takeInputs(drawing, signals);
  const made = await makeImages(gateway, { ...drawing, ...inputs, signals });
  const { price, lostPicos, spoiledPicos, provider, calls } = made;
  const spoiled = { provider, calls, picos: spoiledPicos };
  const failed = (error: ApiError, unshownPicos = 0n): Delivery => ({
    kind: 'failed',
    error,
    lostPicos: lostPicos + unshownPicos,
    spoiled,
  });
  if (made.kind === 'failed')
    return failed(toModelError(made.failure, model, gateway.clock.nowMs()));
  const refusal = await takeFreeRoom(drawing, made.images);
  if (refusal) return failed(refusal);
  const data = await showAll(drawing, made.images);
  if (data instanceof ApiError)
    return failed(
      data,
      price.upstreamPicos * BigInt(made.images.length) + (price.request?.upstreamPicos ?? 0n),
    );
  const body = { created: Math.floor(gateway.clock.nowMs() / 1_000), model: model.id, data };
  const { ignored } = request;
  return {
    kind: 'delivered',
    count: data.length,
    price,
    provider,
    calls,
    isWhole: data.length === request.count && provider === routes[0].provider,
    body,
    headers: ignored.length > 0 ? { [gateway.headers.ignored]: writeNames(ignored) } : {},
    usableForMs: usableForMs(gateway, request),
    lostPicos,
    spoiled,
  };
}

/**
 * Takes the input images out of the request: the body stays in memory until the answer ends, and
 * they are most of it. The request already has its name and price, so nothing reads them again.
 */
async function takeInputs(
  { gateway, caller, model, request }: Drawing,
  run: Run,
): Promise<Pick<Making, 'inputs' | 'mask'>> {
  const memory = gateway.images.enter(caller.key.accountId);
  run.whenClosed(memory.leave);
  const reading = { signal: run.waiting, memory };
  const { mask } = request;
  const images = { ...reading, max: model.inputImages.max, field: 'images' };
  const inputs = await gateway.images.readInputs(request.images.splice(0), images);
  if (mask === null) return { inputs, mask };
  const masks = { ...reading, max: 1, field: 'mask', isList: false };
  return { inputs, mask: (await gateway.images.readInputs([mask], masks))[0]! };
}

/**
 * Takes the room of a test key's images from what the account may store for free today. Returns the
 * refusal if there is too little room, and null otherwise.
 */
async function takeFreeRoom(
  { gateway, caller: { key }, request }: Drawing,
  images: readonly ImageBytes[],
): Promise<ApiError | null> {
  if (key.mode !== 'test' || request.responseFormat === 'b64_json') return null;
  const bytes = images.reduce((sum, image) => sum + image.bytes.length, 0);
  if (await gateway.answers.dailyBytes.take('free', key.accountId, bytes)) return null;
  const nowMs = gateway.clock.nowMs();
  return new ApiError(
    'rate_limit_exceeded',
    "The images of the account's test keys exceed the bytes that are stored for free in a day " +
      '(`limits.free_bytes_per_day`). Send `response_format` `b64_json`, which stores nothing, or ' +
      'retry after midnight UTC.',
    {
      param: 'response_format',
      details: { limit: 'free_bytes_per_day', scope: 'account' },
      retryAfterSeconds: Math.ceil((nextDayMs(nowMs) - nowMs) / 1_000),
    },
  );
}

/**
 * Stores the images and writes their entries in the answer. Returns an ApiError when they cannot be
 * stored.
 */
async function showAll(
  drawing: Drawing,
  images: readonly ImageBytes[],
): Promise<JsonObject[] | ApiError> {
  try {
    return await Promise.all(images.map((image) => show(drawing, image)));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

async function show(
  { gateway, caller: { baseUrl }, request }: Drawing,
  image: ImageBytes,
): Promise<JsonObject> {
  if (request.responseFormat === 'b64_json') return { b64_json: image.bytes.toString('base64') };
  return { url: gateway.images.links.sign(baseUrl, await gateway.images.store.put(image)) };
}

/** A replayed link must still work for a while. */
const linkUseMs = hourMs;

function usableForMs({ config }: Gateway, { responseFormat }: ImageRequest): number | null {
  return responseFormat === 'url' ? config.storage.keep_days * dayMs - linkUseMs : null;
}
