// Counts the input of a Messages request, free of charge: by the provider where the model runs at Anthropic, by the sandbox's own rule with
// a test key. When no provider can be asked, none answers in time, or an account without balance has asked enough, our estimate stands, and
// the answer says so.
import { invalidRequest, type ApiError } from '../canonical/errors.ts';
import type { Model } from '../catalog/model.ts';
import type { OpenedFields } from '../formats/field-verdicts.ts';
import { asRunning, ignoredAnswerFields, parseCountRequest } from '../formats/messages/count-tokens.ts';
import { messages } from '../formats/messages/index.ts';
import type { ClientRequest } from '../formats/format.ts';
import type { ApiKey } from '../keys/api-key.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import type { ForwardableHeaders } from '../providers/provider.ts';
import { askForCount, canCount } from './ask-for-count.ts';
import type { Headers } from './client.ts';
import type { Gateway, RequestTrace } from './gateway.ts';
import { writeIgnored } from './headers.ts';
import { estimateInput } from './input-estimate.ts';
import { checkPermission, findModel } from './permitted-model.ts';
import { findRoutes } from './route.ts';
import { requestHeaders } from './running.ts';

export type CountIncoming = {
  readonly requestId: string;
  readonly key: ApiKey;
  /** The parsed JSON. */
  readonly body: unknown;
  readonly forwardable: ForwardableHeaders;
  readonly trace: RequestTrace;
  /** The client has gone. */
  readonly signal: AbortSignal;
};

export type TokenCount = { readonly inputTokens: number; readonly headers: Headers };

/** What one provider says, or our own rule. */
export type Counted = { readonly inputTokens: number; readonly ignored: readonly string[] };

/** Throws the ApiError to answer with. Nothing is held and nothing is charged. */
export async function countTokens(gateway: Gateway, incoming: CountIncoming): Promise<TokenCount> {
  const { key, trace } = incoming;
  const request = parseCountRequest(incoming.body);
  const model = findModel(gateway.catalog, request.model);
  const routes = findRoutes(gateway, { model, mode: key.mode, clientFormat: messages.name });
  trace.model = model.id;
  checkPermission(key, model.id);
  const counting = routes.filter(canCount);
  if (key.mode === 'test' ? model.ownedBy !== 'anthropic' : counting.length === 0) throw notAnthropics(model);
  const rateHeaders = await gateway.rateLimits.takeRequest(key);
  const counted =
    key.mode === 'test'
      ? countInSandbox(gateway, { ...incoming, model, request, opened: routes[0].passFields })
      : (await mayAsk(gateway, key))
        ? await askForCount(gateway, { ...incoming, model, request, routes: counting })
        : null;
  const { inputTokens, ignored } = counted ?? {
    inputTokens: estimateInput(request.body, { model, routes }).likely,
    ignored: ignoredAnswerFields(request),
  };
  return {
    inputTokens,
    headers: {
      ...requestHeaders({ gateway, key, rateHeaders }),
      ...(ignored.length > 0 && { [gateway.headers.ignored]: writeIgnored(ignored) }),
      ...(counted === null && { [gateway.headers.tokenCount]: 'estimate' }),
    },
  };
}

/** Counting is free, but nobody without a balance may use up what the provider lets the operator ask. */
async function mayAsk({ readBalance, rateLimits }: Gateway, key: ApiKey): Promise<boolean> {
  const balance = await readBalance(ledgerIdOf(key.accountId, key.mode));
  return (balance !== null && balance.availableMicros > 0) || rateLimits.takeUnpaidCount(key);
}

function notAnthropics(model: Model): ApiError {
  return invalidRequest(
    'model',
    `Tokens are counted for Anthropic's models only, and '${model.id}' is not one that runs there. Use a Claude model of GET /v1/models.`,
  );
}

type Counting = CountIncoming & { readonly model: Model; readonly request: ClientRequest; readonly opened: OpenedFields };

/** By the rule that it bills by. */
function countInSandbox({ providers }: Gateway, { trace, model, request, opened }: Counting): Counted {
  trace.provider = 'sandbox';
  const running = asRunning(request, model.maxOutputTokens);
  const ignored = [...ignoredAnswerFields(request), ...(messages.ignoredFields?.(running) ?? [])];
  return { inputTokens: providers.sandbox.countTokens(messages.readRequest(running, opened)), ignored: [...new Set(ignored)] };
}
