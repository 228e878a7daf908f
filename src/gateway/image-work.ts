// A request for images: its inputs are fetched, images are made, kept by us, and charged as far as they came.
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import type { ImageModel } from '../canonical/image-model.ts';
import { unitPrice } from '../catalog/image-price.ts';
import type { JsonObject } from '../formats/format.ts';
import { checkImageRequest, parseImageRequest, type ImageRequest } from '../images/image-request.ts';
import { multiplierPpmFor } from '../keys/api-key.ts';
import type { ImageBytes } from '../lib/image.ts';
import type { Admitted, IncomingRequest } from './admitted.ts';
import type { Client } from './client.ts';
import type { Work } from './endpoint.ts';
import type { Gateway } from './gateway.ts';
import { writeIgnored } from './headers.ts';
import { findImageRoutes, makeImages, type ImageRouteChosen } from './image-maker.ts';
import type { Keeping } from './keeping.ts';
import { sellPieces, type Delivery, type Sale } from './piece-sale.ts';
import { modelNotFound } from './route.ts';
import { toApiError } from './upstream-error.ts';

/** Throws ApiError 400 or 404. */
export function imageEndpoint(gateway: Gateway, incoming: IncomingRequest): Work {
  const raw = parseImageRequest(incoming.body);
  const model = gateway.catalog.images.resolve(raw.model);
  if (!model) throw isChatModel(gateway, raw.model) ? notAnImageModel(raw.model) : modelNotFound(raw.model);
  const routes = findImageRoutes(gateway, { model, mode: incoming.key.mode });
  return new ImageWork({ gateway, incoming, model, routes, request: checkImageRequest(raw, model) });
}

type ImageOptions = {
  readonly gateway: Gateway;
  readonly incoming: IncomingRequest;
  readonly model: ImageModel;
  readonly routes: readonly [ImageRouteChosen, ...ImageRouteChosen[]];
  readonly request: ImageRequest;
};

class ImageWork implements Work {
  readonly modelId: string;
  readonly provider: string;
  readonly route: string;
  readonly stream = false;
  readonly isCachedUnasked = false;
  readonly body: JsonObject;
  readonly #options: ImageOptions;

  constructor(options: ImageOptions) {
    const [first] = options.routes;
    this.#options = options;
    this.modelId = options.model.id;
    this.provider = first.provider;
    this.route = `${first.provider} ${Object.values(first.upstreamModels).join(' ')}`;
    this.body = options.request.body;
  }

  countTokens(): number {
    return 0;
  }

  async execute(admitted: Admitted, client: Client, keeping: Keeping): Promise<void> {
    await sellPieces({ admitted, client, keeping }, this.#saleTo(admitted), (signal) => this.#deliver(admitted, signal));
  }

  writeFailure(): string {
    throw new Error('images are never streamed');
  }

  #saleTo({ gateway, key }: Admitted): Sale {
    const { model, request } = this.#options;
    const factor = { markup: gateway.config.pricing.markup, multiplierPpm: multiplierPpmFor(key, model.id) };
    const price = unitPrice(model, request, factor);
    if (!price) throw modelNotFound(model.id);
    return {
      ...price,
      endpoint: 'images',
      modelId: model.id,
      modelName: model.displayName,
      piece: 'image',
      count: request.count,
      priceVersion: '0',
      countField: 'n',
    };
  }

  async #deliver({ trace }: Admitted, signal: AbortSignal): Promise<Delivery> {
    const { gateway, model, request, routes } = this.#options;
    const inputs = await gateway.images.readInputs(request.images, { max: model.inputImages.max, field: 'images', signal });
    // The body is kept until the answer has ended, which may take minutes. By now it has a name, and nobody looks at it again.
    request.images.length = 0;
    const made = await makeImages(gateway, { routes, mode: model.mode, request, inputs, trace, signal });
    if (made.kind === 'failed') return { kind: 'failed', error: toApiError(made.failure), lost: made.lost };
    const data = await this.#showAll(made.images);
    if (data instanceof ApiError) return { kind: 'failed', error: data, lost: made.lost + made.images.length };
    const body = { created: Math.floor(gateway.clock.nowMs() / 1_000), model: model.id, data };
    const { ignored } = request;
    const headers = ignored.length > 0 ? { [gateway.headers.ignored]: writeIgnored(ignored) } : {};
    return {
      kind: 'delivered',
      count: data.length,
      provider: made.provider,
      isWhole: data.length === request.count && made.provider === this.provider,
      body,
      headers,
      usableForMs: usableForMs(gateway, request),
      lost: made.lost,
    };
  }

  /** ApiError: they cannot be kept. */
  async #showAll(images: readonly ImageBytes[]): Promise<JsonObject[] | ApiError> {
    try {
      return await Promise.all(images.map((image) => this.#show(image)));
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  async #show(image: ImageBytes): Promise<JsonObject> {
    const { gateway, incoming, request } = this.#options;
    if (request.responseFormat === 'b64_json') return { b64_json: image.bytes.toString('base64') };
    return { url: gateway.images.links.sign(incoming.baseUrl, await gateway.images.store.put(image)) };
  }
}

/** A link that is told once more must still lead somewhere for a while. */
const linkUseMs = 3_600_000;

function usableForMs({ config }: Gateway, { responseFormat }: ImageRequest): number | null {
  return responseFormat === 'url' ? config.storage.keep_days * 86_400_000 - linkUseMs : null;
}

function isChatModel({ catalog }: Gateway, name: string): boolean {
  return catalog.resolve(name) !== null;
}

function notAnImageModel(name: string): Error {
  return invalidRequest('model', `The model '${name}' makes no images. GET /v1/models lists those that do, of type \`image\`.`);
}
