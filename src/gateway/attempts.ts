// Sends a request upstream until an answer has begun: to a route again, then to the next, all under one hold. Once anything of an answer
// has reached the client nothing is sent again.
import { setTimeout } from 'node:timers/promises';
import type { UpstreamFailure } from '../canonical/event.ts';
import type { CallFailed } from './call.ts';
import type { CallEnding } from './route-health.ts';
import { providerNameOf, type HttpRoute } from './route.ts';
import type { Attempt } from './route-plan.ts';
import { isCredentialRefused, nextStepAfter, waitBeforeRetryMs } from './retry-policy.ts';
import type { Running } from './running.ts';
import { bookLoss } from './settle.ts';

/** A call of `running.attempt`, to its end. */
export type Tried<Answer> = { readonly kind: 'answered'; readonly answer: Answer } | CallFailed;

/** The first call that gives an answer, or the last one when all have failed. */
export async function tryRoutes<Answer>(running: Running, call: () => Promise<Tried<Answer>>): Promise<Tried<Answer>> {
  const { retryBudget } = running.gateway.routing;
  const retrying: Retrying = { startedAtMs: running.gateway.nowMs(), onRoute: 0, retries: 0 };
  try {
    running.attempt = running.plan.begin(running.hold);
    passOverProbed(running);
    for (;;) {
      const tried = await callRoute(running, call);
      retrying.onRoute += 1;
      if (tried.kind === 'answered' || !(await prepareNext(running, tried, retrying))) return tried;
    }
  } finally {
    retryBudget.giveBack(retrying.retries);
  }
}

type Retrying = {
  readonly startedAtMs: number;
  /** Calls of the present route. */
  onRoute: number;
  /** Calls beyond the first, as the budget granted them. */
  retries: number;
};

/** One request at a time tries a route that was out of use: another may have begun to while this one was held for. */
function passOverProbed(running: Running): void {
  if (!isFree(running, running.attempt)) running.attempt = nextFree(running) ?? running.attempt;
}

function nextFree(running: Running): Attempt | null {
  for (let next = running.plan.next(running.hold); next; next = running.plan.next(running.hold)) {
    if (isFree(running, next)) return next;
  }
  return null;
}

function isFree({ gateway }: Running, { route }: Attempt): boolean {
  return route.transport === 'sandbox' || gateway.routing.health.isFree(route.name);
}

async function callRoute<Answer>(running: Running, call: () => Promise<Tried<Answer>>): Promise<Tried<Answer>> {
  const { trace, attempt, gateway } = running;
  trace.attempts = (trace.attempts ?? 0) + 1;
  trace.provider = providerNameOf(attempt.route);
  if (attempt.route.transport === 'sandbox') return call();
  const { health } = gateway.routing;
  const { name } = attempt.route;
  health.begin(name);
  let ending: CallEnding = 'unknown';
  try {
    const tried = await call();
    if (tried.kind === 'answered') ending = 'good';
    else if (!running.controller.signal.aborted) ending = noteFailure(running, attempt.route, tried.failure);
    return tried;
  } finally {
    health.end(name, ending);
  }
}

/** Says in the log what the client is not told. */
function noteFailure({ gateway, trace, requestId, model }: Running, route: HttpRoute, failure: UpstreamFailure): CallEnding {
  trace.upstreamStatus = failure.status;
  const fields = {
    request_id: requestId,
    provider: route.name.provider,
    model: model.id,
    kind: failure.kind,
    upstream_status: failure.status,
    attempt: trace.attempts,
  };
  if (isCredentialRefused(failure.status)) {
    gateway.log.error(fields, 'the provider refuses its credential or wants money: no request through it can succeed');
    return 'refused';
  }
  gateway.log.warn(fields, 'the upstream failed');
  // A request that is refused for its own sake was refused by a provider that works.
  return nextStepAfter(failure) === 'never' ? 'good' : 'bad';
}

/** Makes `running.attempt` what is to be called next; false: nothing is, and the failure is to be told. */
async function prepareNext(running: Running, failed: CallFailed, retrying: Retrying): Promise<boolean> {
  const { gateway, trace } = running;
  const { max_attempts: attemptsMax, deadline_ms: deadlineMs } = gateway.config.retries;
  if (failed.begun || isGivenUp(running) || running.attempt.route.transport === 'sandbox') return false;
  if ((trace.attempts ?? 0) >= attemptsMax) return false;
  const leftMs = retrying.startedAtMs + deadlineMs - gateway.nowMs();
  const next = chooseNext(running, failed.failure, { retrying, leftMs });
  if (!next || !gateway.routing.retryBudget.take()) return false;
  retrying.retries += 1;
  await bookLoss(running, failed.progress);
  if (next.attempt !== running.attempt) retrying.onRoute = 0;
  if (next.waitMs > 0) await waitUnlessGone(running, next.waitMs);
  if (isGivenUp(running)) return false;
  running.attempt = next.attempt;
  return true;
}

type Next = { readonly attempt: Attempt; readonly waitMs: number };

/** The same route after a wait, as often as it may be tried; else the next one at once. null: there is none, or no time for it. */
function chooseNext(
  running: Running,
  failure: UpstreamFailure,
  { retrying, leftMs }: { readonly retrying: Retrying; readonly leftMs: number },
): Next | null {
  const { attempt, gateway } = running;
  const { attempts_per_route: onRouteMax, backoff_base_ms: baseMs, backoff_cap_ms: capMs } = gateway.config.retries;
  const step = nextStepAfter(failure);
  if (step === 'never' || leftMs <= 0) return null;
  if (step === 'again' && retrying.onRoute < onRouteMax) {
    const waitMs = waitBeforeRetryMs(failure, retrying.retries, { baseMs, capMs, random: gateway.routing.random });
    if (waitMs !== null && waitMs < leftMs) return { attempt, waitMs };
  }
  const next = nextFree(running);
  return next && { attempt: next, waitMs: 0 };
}

/** Nobody waits for the answer any more, or the program ends. */
function isGivenUp({ client, keeping, controller }: Running): boolean {
  return controller.signal.aborted || (client.isGone() && !keeping.isAwaited);
}

async function waitUnlessGone(running: Running, waitMs: number): Promise<void> {
  const { client, keeping, controller } = running;
  const woken = new AbortController();
  const wake = () => isGivenUp(running) && woken.abort();
  client.onGone(wake);
  keeping.onUnawaited(wake);
  await setTimeout(waitMs, undefined, { signal: AbortSignal.any([controller.signal, woken.signal]) }).catch(() => {});
}
