// Decides which requests' spans are exported, as OpenTelemetry's standard samplers do.
// https://opentelemetry.io/docs/specs/otel/trace/sdk/#sampling
import type { TelemetryConfig } from '../../config/schema.ts';
import type { TraceContext } from '../../lib/trace-context.ts';

export type Sampler = (
  trace: Pick<TraceContext, 'traceId' | 'flags'> | null,
  newTraceId: string,
) => boolean;

/** `trace`: the client's; null: it sent none, and `newTraceId` decides. */
export function createSampler({ sampler, sampler_ratio: ratio }: TelemetryConfig): Sampler {
  const isParentBased = sampler.startsWith('parentbased_');
  const root = sampler.replace('parentbased_', '');
  const share = root === 'always_on' ? 1 : root === 'always_off' ? 0 : ratio;
  return (trace, newTraceId) =>
    trace && isParentBased ? isMarked(trace) : isWithin(trace?.traceId ?? newTraceId, share);
}

/** The client decides if it sends a trace, as with `parentbased_traceidratio`. */
export function isSampledByAccount(
  trace: Pick<TraceContext, 'flags'> | null,
  traceId: string,
  ratio: number,
): boolean {
  return trace ? isMarked(trace) : isWithin(traceId, ratio);
}

function isMarked({ flags }: Pick<TraceContext, 'flags'>): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1;
}

/** Compares the last 56 bits, which are random, so that all systems of a trace decide alike. */
function isWithin(traceId: string, share: number): boolean {
  if (share >= 1) return true;
  return Number.parseInt(traceId.slice(-14), 16) < share * 2 ** 56;
}
