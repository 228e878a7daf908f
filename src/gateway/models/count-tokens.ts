// Counts the input of a Messages request, free of charge: by Anthropic, when the model runs there
// (the sandbox plays it for test keys). When no provider can be asked, none answers in time, or an
// account without balance has asked too often, the answer is our estimate, marked as such.
import { invalidRequest, type ApiError } from '../../canonical/errors.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { ignoredAnswerFields, parseCountRequest } from '../../formats/messages/count-tokens.ts';
import { messages } from '../../formats/messages/index.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { ForwardableHeaders } from '../../providers/provider.ts';
import { askForCount, canCount } from './ask-for-count.ts';
import type { Headers } from '../client.ts';
import type { Gateway } from '../gateway.ts';
import type { RequestLog } from '../request-log.ts';
import { requestHeaders, writeNames, type Sender } from '../headers.ts';
import { retirementHeaders } from '../retirement-headers.ts';
import { estimateInput } from './input-estimate.ts';
import { checkPermission, findModel } from '../admission/permitted-model.ts';
import { findRoutes } from '../routing/route.ts';

export type CountIncoming = {
  readonly requestId: string;
  readonly key: ApiKey;
  /** The parsed JSON. */
  readonly body: unknown;
  readonly forwardable: ForwardableHeaders;
  readonly trace: TraceContext | null;
  readonly log: RequestLog;
  /** The client has disconnected. */
  readonly signal: AbortSignal;
};

export type TokenCount = { readonly inputTokens: number; readonly headers: Headers };

/** Throws the ApiError to answer with. Holds and charges nothing. */
export async function countTokens(gateway: Gateway, incoming: CountIncoming): Promise<TokenCount> {
  const { key, log } = incoming;
  const request = parseCountRequest(incoming.body);
  log.note({ askedModel: request.model });
  const model = findModel(gateway, key, request.model);
  const routes = findRoutes(gateway, { model, mode: key.mode, clientFormat: messages.name });
  log.note({ model: model.id });
  checkPermission(key, model.id);
  const counting = routes.filter(canCount);
  if (counting.length === 0) throw notAnthropics(model);
  const rateHeaders = await gateway.rateLimits.takeRequest(key);
  const mayBeAsked = await mayAsk(gateway, key);
  const counted = mayBeAsked
    ? await askForCount(gateway, { ...incoming, model, request, routes: counting })
    : null;
  const { inputTokens, ignored } = counted ?? {
    inputTokens: estimateInput(request.body, { model, routes }).likely,
    ignored: ignoredAnswerFields(request),
  };
  return {
    inputTokens,
    headers: countHeaders(
      { gateway, key, rateHeaders, work: { headers: retirementHeaders(model.retirement) } },
      { ignored, isEstimated: counted === null },
    ),
  };
}

type CountMade = { readonly ignored: readonly string[]; readonly isEstimated: boolean };

export function countHeaders(sender: Sender, { ignored, isEstimated }: CountMade): Headers {
  const names = sender.gateway.headers;
  return {
    ...requestHeaders(sender),
    ...(ignored.length > 0 && { [names.ignored]: writeNames(ignored) }),
    ...(isEstimated && { [names.tokenCount]: 'estimate' }),
  };
}

/**
 * Returns true when a provider may be asked. Counting is free, but accounts without a balance must
 * not use up the operator's quota.
 */
export async function mayAsk({ readBalance, rateLimits }: Gateway, key: ApiKey): Promise<boolean> {
  if (key.mode === 'test') return true;
  const balance = await readBalance(ledgerIdOf(key.accountId, key.mode));
  return (balance !== null && balance.availableMicros > 0) || rateLimits.takeUnpaidCount(key);
}

function notAnthropics(model: Model): ApiError {
  return invalidRequest(
    'model',
    `Tokens are counted here for Anthropic's models only, and '${model.id}' is not one that runs there. POST /v1/responses/input_tokens counts for every model.`,
  );
}
