// Telemetry of one HTTP thread: begins the spans of requests, and gives those of finished requests to
// the operator's export and to the account's own.
import type { RequestEvent } from '../../events/request-events.ts';
import type { ObservedRequest, RequestListener } from '../../events/request-listener.ts';
import { type AccountExport, RequestSpans } from '../../events/request-spans.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../lib/clock.ts';
import { newTraceId, type ClientTrace } from '../../lib/trace-context.ts';
import { receiverHosts } from './accounts/address.ts';
import { AccountExports, type ExportParts } from './accounts/exports.ts';
import type { Registry } from '../../lib/metrics/registry.ts';
import type { FinishedRequest } from './finished-request.ts';
import { openOperatorExport, type OperatorExport } from './operator-export.ts';
import { RequestMetrics } from './request-metrics.ts';
import { isSampledByAccount } from './sampler.ts';

export class Telemetry implements RequestListener {
  readonly accounts: AccountExports;
  readonly metrics: RequestMetrics;
  readonly #operator: OperatorExport | null;
  readonly #clock: Clock;

  constructor(
    { operator, allowed_hosts: allowedHosts }: Config['telemetry'],
    { registry, ...parts }: Omit<ExportParts, 'hosts'> & { readonly registry: Registry },
  ) {
    const { log, clock } = parts;
    this.metrics = new RequestMetrics(registry);
    this.#operator =
      operator && openOperatorExport(operator, { metrics: this.metrics, log, clock });
    this.accounts = new AccountExports({ ...parts, hosts: receiverHosts(allowedHosts) });
    this.#clock = clock;
  }

  /** Called when a request begins. Returns null when the operator exports nothing. */
  begin(client: ClientTrace | null): RequestSpans | null {
    if (!this.#operator) return null;
    const traceId = client?.traceId ?? newTraceId();
    const isSampled = this.#operator.isSampled(client, traceId);
    return new RequestSpans({ client, traceId, isSampled, flags: isSampled ? '01' : '00' });
  }

  /**
   * Called when the account is known that exports its own traces. Returns `begun`, or new spans; null
   * when neither the operator nor the account wants any.
   */
  beginForAccount(
    begun: RequestSpans | null,
    client: ClientTrace | null,
    account: AccountExport,
  ): RequestSpans | null {
    const traceId = begun?.trace.traceId ?? client?.traceId ?? newTraceId();
    if (!isSampledByAccount(client, traceId, account.samplingRatio)) return begun;
    const flags = client?.flags ?? '00';
    const spans = begun ?? new RequestSpans({ client, traceId, isSampled: false, flags });
    spans.account = account;
    return spans;
  }

  hear(event: RequestEvent, { path, fields, spans }: ObservedRequest): void {
    if (event.type !== 'answered') return;
    // A run that outlives its client is charged later.
    spans?.whenOver(() => this.#export({ ...event, route: path, fields, spans }));
  }

  #export(request: FinishedRequest): void {
    const { account } = request.spans;
    // The system's time may be set, so it is asked each time.
    const originMs = this.#clock.nowMs() - this.#clock.elapsedMs();
    this.#operator?.record(request, originMs);
    if (account) this.accounts.add(account, request, originMs);
  }

  /** Sends what waits, as far as the receivers take it at once. */
  async close(): Promise<void> {
    await Promise.all([this.#operator?.close(), this.accounts.close()]);
  }
}
