// Sends a request upstream until an answer has begun: to a route again, then to the next, all under one hold. Once anything of an answer
// has reached the client nothing is sent again.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { CallFailed } from './call.ts';
import type { Gateway } from './gateway.ts';
import type { CallEnding } from './route-health.ts';
import { providerNameOf, type HttpRoute } from './route.ts';
import type { Attempt } from './route-plan.ts';
import { isCredentialRefused, nextStepAfter, waitBeforeRetryMs } from './retry-policy.ts';
import type { Running } from './running.ts';
import { bookLoss } from './settle.ts';
import type { Unseen } from './unseen-output.ts';

/** A call of `running.attempt`, to its end. */
export type Tried<Answer> = { readonly kind: 'answered'; readonly answer: Answer } | CallFailed;

/** Makes one call. `noteAnswer` is to be called as soon as anything of an answer is there to be sent. */
export type Call<Answer> = (noteAnswer: () => void) => Promise<Tried<Answer>>;

/** The first call that gives an answer; when all have failed the last one, with the failure to tell. */
export async function tryRoutes<Answer>(running: Running, call: Call<Answer>): Promise<Tried<Answer>> {
  const { hold, plan, gateway } = running;
  const retrying = new Retrying(gateway);
  try {
    running.attempt = plan.begin(hold);
    passOverProbed(running);
    for (;;) {
      running.unseen.begin(unseenBy(running));
      const tried = await callRoute(running, call, retrying).finally(() => running.unseen.end());
      if (tried.kind === 'answered') return tried;
      running.trace.upstreamStatus = tried.failure.status;
      const failure = retrying.noteFailure(tried, running.attempt);
      if (!(await prepareNext(running, tried, retrying))) return { ...tried, told: failure };
    }
  } finally {
    retrying.giveBack();
  }
}

/** What the calls of one request have come to so far. */
class Retrying {
  /** Calls of the present route. */
  onRoute = 0;
  /** Calls beyond the first. */
  retries = 0;
  readonly #gateway: Gateway;
  readonly #startedAtMs: number;
  #granted = 0;
  #passing: { readonly failure: UpstreamFailure; readonly attempt: Attempt } | null = null;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#startedAtMs = gateway.clock.nowMs();
  }

  /** Within which another call may begin. */
  get leftMs(): number {
    return this.#startedAtMs + this.#gateway.config.retries.deadline_ms - this.#gateway.clock.nowMs();
  }

  /**
   * Notes how a call of the route has failed, and returns what is to be told if it was the last: a route that refuses the request, or the
   * operator's credential, hides no failure of another one that will pass, since the client may try again then.
   */
  noteFailure({ failure }: CallFailed, attempt: Attempt): UpstreamFailure {
    if (nextStepAfter(failure) === 'again') this.#passing = { failure, attempt };
    return this.#passing && this.#passing.attempt !== attempt ? this.#passing.failure : failure;
  }

  /** Asks for one call more. */
  take(): boolean {
    const { routing, runs } = this.#gateway;
    if (!routing.retryBudget.take(runs.count)) return false;
    this.#granted += 1;
    this.retries += 1;
    return true;
  }

  giveBack(): void {
    this.#gateway.routing.retryBudget.giveBack(this.#granted);
    this.#granted = 0;
  }
}

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

/** An answer that comes whole shows nothing until its end, and a model that thinks may hide that. */
function unseenBy({ request, attempt: { written } }: Running): Unseen {
  if (!request.stream) return 'all';
  return written.transport === 'http' && written.mayThink ? 'thoughts' : 'nothing';
}

function isFree({ gateway }: Running, { route }: Attempt): boolean {
  return route.transport === 'sandbox' || gateway.routing.health.isFree(route.name);
}

async function callRoute<Answer>(running: Running, call: Call<Answer>, retrying: Retrying): Promise<Tried<Answer>> {
  const { trace, gateway } = running;
  const { route } = running.attempt;
  trace.attempts = (trace.attempts ?? 0) + 1;
  trace.provider = providerNameOf(route);
  retrying.onRoute += 1;
  if (route.transport === 'sandbox') return call(() => {});
  const { health } = gateway.routing;
  let ending: CallEnding = 'unknown';
  const { clock } = gateway;
  const startedAtMs = clock.elapsedMs();
  let answeredAtMs: number | null = null;
  health.begin(route.name);
  try {
    const tried = await call(() => {
      answeredAtMs = clock.elapsedMs();
      health.noteAnswer(route.name);
      retrying.giveBack();
    });
    if (tried.kind === 'answered') ending = 'good';
    else if (!running.controller.signal.aborted) ending = noteFailure(running, route, tried.failure);
    return tried;
  } finally {
    health.end(route.name, ending);
    const kind = running.request.stream ? 'stream' : 'whole';
    const ms = (answeredAtMs ?? clock.elapsedMs()) - startedAtMs;
    gateway.activity.noteCall({ provider: route.name.provider, kind, ending, ms });
  }
}

/** Says in the log what the client is not told. */
function noteFailure({ gateway, trace, requestId, model }: Running, route: HttpRoute, failure: UpstreamFailure): CallEnding {
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
  const { route } = running.attempt;
  if (failed.begun || isGivenUp(running) || route.transport === 'sandbox') return false;
  const next = chooseNext(running, failed.failure, retrying);
  if (!next || !retrying.take()) return false;
  if (next.waitMs > 0) await waitUnlessGone(running, next.waitMs);
  if (isGivenUp(running)) return false;
  await bookLoss(running, failed);
  if (next.attempt !== running.attempt) retrying.onRoute = 0;
  running.attempt = next.attempt;
  return true;
}

type Next = { readonly attempt: Attempt; readonly waitMs: number };

/** The same route after a wait, as often as it may be tried; else the next one at once. null: there is none, or no time for it. */
function chooseNext(running: Running, failure: UpstreamFailure, { onRoute, retries, leftMs }: Retrying): Next | null {
  const { attempt, gateway } = running;
  const limits = gateway.config.retries;
  const step = nextStepAfter(failure);
  if (step === 'never' || leftMs <= 0 || retries + 1 >= limits.max_attempts) return null;
  if (step === 'again' && onRoute < limits.attempts_per_route) {
    const { backoff_base_ms: baseMs, backoff_cap_ms: capMs } = limits;
    const waitMs = waitBeforeRetryMs(failure, retries, { baseMs, capMs, random: gateway.routing.random });
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
  const { client, keeping, controller, gateway } = running;
  const woken = new AbortController();
  const wake = () => isGivenUp(running) && woken.abort();
  client.onGone(wake);
  keeping.onUnawaited(wake);
  await gateway.clock.sleep(waitMs, AbortSignal.any([controller.signal, woken.signal]));
}
