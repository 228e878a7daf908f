// Writes the upstream request: on the straight path when both sides speak one format, else through
// the canonical request.
import { hasCacheMarks } from '../../canonical/cache-control.ts';
import type { CanonicalRequest, Message } from '../../canonical/request.ts';
import { lowerCustomTools } from '../../formats/adapting/custom-tools.ts';
import type { Emulated } from '../../formats/adapting/emulated.ts';
import { repairConversation } from '../../formats/adapting/repair-conversation.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { priceAt } from '../../domain/catalog/price.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { limitArguments } from '../../formats/call-arguments.ts';
import { claudeTraits } from '../../formats/claude-traits.ts';
import { fitToHost, refusesField } from '../../formats/fit-to-host.ts';
import { inWordsOf, namesInWordsOf } from '../../formats/client-words.ts';
import type {
  ClientFormat,
  ClientRequest,
  UpstreamRequest,
  UpstreamTarget,
} from '../../formats/format.ts';
import { hostedTools, upstreamFormats } from '../../formats/registry.ts';
import type { ToolNames } from '../../formats/tool-names.ts';
import { fitRequestNames } from '../../formats/translated-tool-names.ts';
import { isObject, type JsonObject, writeJson } from '../../lib/json.ts';
import type { HostWishes } from '../../terms/host-wishes.ts';
import type { CacheMarks } from '../../terms/prompt-cache.ts';
import type { InputEstimate } from '../../lib/tokens.ts';
import { ignoredBetas, withFastMode } from '../../formats/messages/betas.ts';
import type { ForwardableHeaders } from '../../providers/provider.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../lib/clock.ts';
import { conversationOf } from './conversation.ts';
import type { PassedLine } from '../request.ts';
import type { Hosts } from './routing.ts';
import type { ChosenRoute } from './route.ts';
import { functionsOfOwn, type AskedTools } from './asked-tools.ts';

export type WrittenRequest = {
  readonly path: string;
  /** `path` is the whole path there. Left out: it is below the base URL. */
  readonly origin?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly ignored: readonly string[];
  /** The unknown fields among the ignored. */
  readonly leftOut: readonly string[];
  readonly emulated: Emulated;
  /** False on the straight path. */
  readonly isTranslated: boolean;
  /** Custom tools that were sent as functions; their calls become custom again in the answer. */
  readonly loweredTools: ReadonlySet<string>;
  /** null: the tools keep the client's names. */
  readonly toolNames: ToolNames | null;
  /** True when a stream may be silent while the model writes: it thinks, or writes a call. */
  readonly mayHide: boolean;
  /** Who marked the prompt for the host's cache; null: it caches without marks. */
  readonly cacheMarks: CacheMarks | null;
};

/** The destination of a request, and its limits there. */
export type RouteLimits = {
  readonly route: ChosenRoute;
  /** null: neither the provider nor the gateway runs any. */
  readonly tools: AskedTools | null;
  readonly outputTokens: number;
};

/** What routing needs of the program. */
type Router = { readonly config: Config; readonly hosts: Hosts; readonly clock: Clock };

/** A request for a model's answer, and whose key sent it. */
export type ModelRequest = {
  readonly gateway: Router;
  readonly key: ApiKey;
  readonly model: Model;
  readonly format: ClientFormat;
  readonly request: ClientRequest;
  readonly estimate: InputEstimate;
  readonly forwardable: ForwardableHeaders;
  /** The client's id of its conversation, from a header; null: none. */
  readonly sessionId: string | null;
  /** Names its conversation. Worked out once: the text may be long. */
  readonly conversation: () => string;
  /** What follows the client's messages: tools of ours. Left out: nothing. */
  readonly turns?: readonly Message[];
  /** As in IncomingRequest. */
  readonly passed?: PassedLine | undefined;
};

/** Counting names no conversation. */
type ToWrite = Omit<ModelRequest, 'sessionId' | 'conversation'> &
  Partial<Pick<ModelRequest, 'sessionId'>>;

type WrittenBody = UpstreamRequest & {
  readonly isTranslated: boolean;
  readonly loweredTools: ReadonlySet<string>;
};
const none: ReadonlySet<string> = new Set();

/**
 * Writes the request for a route. Throws ApiError `invalid_request` for what the target cannot
 * express or a shared credential must not pass.
 */
export function writeUpstreamRequest(given: ToWrite, limits: RouteLimits): WrittenRequest {
  const { route, tools } = limits;
  const hosted = tools?.own && hostedTools[given.format.name];
  const asked = hosted
    ? { ...given, request: hosted.withFunctions(given.request, functionsOfOwn(tools)) }
    : given;
  const { gateway, key, request } = asked;
  const wishes = wishesOf(route);
  const target = targetOf(asked, limits, wishes);
  const {
    body,
    ignored,
    emulated,
    isTranslated,
    loweredTools,
    toolNames = null,
    cacheMarks = null,
    at,
  } = writeBody(asked, limits, target);
  gateway.hosts.routing.noteUnknown(target.unknown.leftOut);
  const accepted = fitToHost(body, wishes, route.passFields);
  const { forwardable } = asked;
  const client =
    body.speed === 'fast'
      ? { ...forwardable, 'anthropic-beta': withFastMode(forwardable['anthropic-beta']) }
      : forwardable;
  const hidden = gateway.hosts.providers.endUsers.hide(accepted.body, {
    accountId: key.accountId,
    format: route.format,
    wantsAccount: route.kind.wantsAccount ?? false,
    takesCacheSalt: route.provider.takesCacheSalt,
  });
  const sent = { format: route.format, target, client, ignored: new Set<string>() };
  // A proxy's own path stays ahead of the host's.
  const base = at?.isAtOrigin ? new URL(route.provider.baseUrl) : null;
  const ahead = base ? base.pathname.replace(/(?:\/(?:v1|beta))?\/?$/, '') : '';
  return {
    path: at ? ahead + at.path : route.kind.path(route.format, target, route.provider.place),
    ...(base && { origin: base.origin }),
    headers: route.kind.headers(route.provider.apiKey, client, target),
    body: writeJson(route.kind.adaptBody?.(hidden, sent) ?? hidden),
    ignored: [
      ...new Set([
        ...(request.ignored ?? []),
        ...ignored,
        ...(tools?.own?.search ? (hosted!.ignoredFields?.(given.request) ?? []) : []),
        ...(tools?.own?.images?.ignored ?? []),
        ...target.unknown.leftOut,
        ...namesInWordsOf(given.format.fieldNames, accepted.ignored),
        ...sent.ignored,
        ...ignoredBetas(forwardable['anthropic-beta'], route.kind.betas),
      ]),
    ],
    leftOut: [...target.unknown.leftOut],
    emulated: { ...(!at && given.format.emulates), ...emulated },
    isTranslated,
    loweredTools,
    toolNames,
    cacheMarks,
    mayHide: hasTools(body) || (target.thinking && upstreamFormats[route.format].mayThink(body)),
  };
}

/** Most are about Chat. A Claude that refuses forced calls does so behind any host. */
function wishesOf({ format, kind, provider, upstreamModel }: ChosenRoute): HostWishes {
  const wishes = format === 'chat' ? provider.wishes : {};
  const forcesCalls = format !== 'chat' || claudeTraits(upstreamModel).forcesCalls;
  if (kind.isOpenAi && forcesCalls) return wishes;
  return {
    ...wishes,
    ...(!kind.isOpenAi && { refused: [...(wishes.refused ?? []), ...openAiCacheFields] }),
    ...(!forcesCalls && { toolChoices: { ...wishes.toolChoices, required: null, named: null } }),
  };
}

/** `unknown.leftOut` gets the fields that writing for this target leaves out. */
function targetOf(
  { gateway, key, model, request, estimate }: ToWrite,
  { route, tools, outputTokens }: RouteLimits,
  wishes: HostWishes,
) {
  return {
    model: route.upstreamModel,
    stream: request.stream,
    maxOutputTokens: outputTokens,
    thinking: model.supports.thinking,
    isOpenAi: route.kind.isOpenAi ?? false,
    refusesSummaries: gateway.hosts.routing.refusedSummaries.has(route.name),
    refusedHistory: route.provider.refusedHistory,
    refusesStop: refusesField(wishes, 'stop'),
    unknown: {
      opened: route.passFields,
      areRefused: gateway.config.limits.unknown_fields === 'refuse',
      leftOut: new Set<string>(),
    },
    ...(tools && tools.searchesMax > 0 && { searchesMax: tools.searchesMax }),
    ...(request.tier && { tier: request.tier }),
    ...(wishes.prefill && { prefill: wishes.prefill }),
    ...(wishes.completions && { completions: wishes.completions }),
    ...(key.marksCache &&
      mayMarkCache(model, request, gateway.clock) && { cacheableTokens: estimate.likely }),
  };
}

/**
 * Returns true when the gateway may mark the prompt. Without prices for the cache, its writes would
 * be sold below their cost. OpenAI's `explicit` asks for no cache but the client's own.
 */
function mayMarkCache(model: Model, { body }: ClientRequest, clock: Clock): boolean {
  const { prompt_cache_options: options } = body;
  const prices = priceAt(model, clock.nowMs())?.base;
  return (
    model.marksCache &&
    prices !== undefined &&
    prices.cacheWrite > prices.input &&
    prices.cacheRead < prices.input &&
    !(isObject(options) && options.mode === 'explicit')
  );
}

/**
 * Many hosts send a call only when it is complete (Gemini, Mistral and xAI, from memory,
 * 2026-11-26), and Anthropic each of its arguments.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
function hasTools({ tools }: JsonObject): boolean {
  return Array.isArray(tools) && tools.length > 0;
}

function writeBody(
  asked: ToWrite,
  { route, tools }: RouteLimits,
  target: UpstreamTarget,
): WrittenBody {
  const { format, request } = asked;
  const { relay } = format;
  const isEmulated = tools?.own !== undefined || relay.canRelay?.(request, target) === false;
  if (route.format === format.name && !isEmulated) {
    const relayed = relay.writeRequest(request, target);
    return { ...relayed, isTranslated: false, loweredTools: none };
  }
  const upstreamFormat = upstreamFormats[route.format];
  const asAsked = format.readRequest(request, target.unknown);
  const read = withCacheKey(withTurns(asAsked, asked.turns), asked, target);
  // A vendor that has them in its own formats may serve Claude too.
  const lowered =
    route.kind.customTools && route.format !== 'messages'
      ? { request: read, names: none, ignored: [] }
      : lowerCustomTools(read);
  const { written, names, ignored } = inWordsOf(format.fieldNames, () => {
    limitArguments(read.messages);
    const fitted = fitRequestNames(repairConversation(lowered.request), upstreamFormat.toolNames);
    return { ...fitted, written: upstreamFormat.writeRequest(fitted.request, target) };
  });
  return {
    ...written,
    ignored: [
      ...(format.ignoredFields?.(request) ?? []),
      ...lowered.ignored,
      ...ignored,
      ...namesInWordsOf(format.fieldNames, written.ignored),
    ],
    isTranslated: true,
    loweredTools: lowered.names,
    toolNames: names,
  };
}

/** A call that the client forces is forced once. */
function withTurns(read: CanonicalRequest, turns: readonly Message[] = []): CanonicalRequest {
  if (turns.length === 0) return read;
  const isForced = read.toolChoice?.type === 'required' || read.toolChoice?.type === 'tool';
  const freed = isForced && { toolChoice: { type: 'auto' } as const };
  return { ...read, messages: [...read.messages, ...turns], ...freed };
}

/**
 * A client that marks its prompts for Anthropic's cache wants them kept elsewhere too. OpenAI finds
 * a prompt again by its beginning and this key.
 */
function withCacheKey(
  read: CanonicalRequest,
  asked: ToWrite,
  { isOpenAi }: UpstreamTarget,
): CanonicalRequest {
  const isMarked = hasCacheMarks(read) || isObject(asked.request.body['cache_control']);
  if (!isOpenAi || !isMarked || read.promptCacheKey !== null) return read;
  return { ...read, promptCacheKey: conversationOf(asked) };
}

/** How long OpenAI keeps a prompt, at no other price. Other hosts may refuse it, or sell it. */
const openAiCacheFields = ['prompt_cache_retention', 'prompt_cache_options'];
