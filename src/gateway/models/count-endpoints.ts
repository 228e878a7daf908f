// The endpoints that count: what they read, and by which routes they count.
import { invalidRequest } from '../../canonical/errors.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { ClientFormat, ClientRequest, InputCount } from '../../formats/format.ts';
import { readCountBody } from '../../formats/gemini/count-tokens.ts';
import { gemini } from '../../formats/gemini/index.ts';
import {
  asRunning,
  ignoredAnswerFields,
  parseCountRequest,
} from '../../formats/messages/count-tokens.ts';
import { messages } from '../../formats/messages/index.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { responses } from '../../formats/responses/index.ts';
import type { ChosenRoute } from '../routing/route.ts';
import type { NamedUrl } from './inline-images.ts';

export type CountEndpoint = {
  readonly format: ClientFormat;
  /** Throws ApiError `invalid_request` that names the field. */
  readonly parse: (body: unknown) => ClientRequest;
  /** Returns the request as it would run: the count is what would be billed. Left out: as it came. */
  readonly asRunning?: (request: ClientRequest, maxOutputTokens: number) => ClientRequest;
  /** Returns the fields that only affect the answer. Left out: it has none. */
  readonly ignored?: (request: ClientRequest) => readonly string[];
  /**
   * Returns the routes that it counts by. Throws ApiError when it does not count for the model. Left
   * out: all.
   */
  readonly routesOf?: (model: Model, routes: readonly ChosenRoute[]) => readonly ChosenRoute[];
  /** Names the URL of an image in an error. */
  readonly nameUrl: (path: string) => NamedUrl;
};

/** Like Anthropic's endpoint: for the models that run there. */
export const messagesCount: CountEndpoint = {
  format: messages,
  parse: parseCountRequest,
  asRunning,
  ignored: ignoredAnswerFields,
  routesOf(model, routes) {
    const counting = routes.filter((route) => route.format === messages.name && counterOf(route));
    if (counting.length > 0) return counting;
    throw invalidRequest(
      'model',
      `Tokens are counted here for Anthropic's models only, and '${model.id}' is not one that runs there. POST /v1/responses/input_tokens counts for every model.`,
    );
  },
  nameUrl: (path) => ({ param: `${path}.source.url`, subject: `${path}.source.url` }),
};

/** Like OpenAI's endpoint: for every model. */
export const responsesCount: CountEndpoint = {
  format: responses,
  parse: (body) => responses.parseRequest(body, { chatMaxTokens: null }),
  nameUrl: () => ({ param: 'input', subject: 'the URL of an image in `input`' }),
};

/** Like Google's endpoint: for every model. */
export const geminiCount: CountEndpoint = {
  format: gemini,
  parse: (body) => gemini.parseRequest(readCountBody(body), { chatMaxTokens: null }),
  nameUrl: () => ({ param: 'contents', subject: 'the URL of an image in `contents`' }),
};

/** How a route's provider counts; null: it cannot. */
type Counter = InputCount & { readonly path: string };

export function counterOf({ kind, format, upstreamModel, provider }: ChosenRoute): Counter | null {
  const inputCount = kind.inputCounts?.[format] ?? upstreamFormats[format].inputCount;
  const path = kind.countTokensPath?.(upstreamModel, format, provider.place) ?? null;
  return inputCount && path !== null ? { ...inputCount, path } : null;
}
