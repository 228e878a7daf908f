// A call of a model that failed, in one shape.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { OutputMeter } from '../../canonical/output-bytes.ts';
import type { BilledAnswer } from '../../formats/billed-answer.ts';
import type { StreamPipe, StreamProgress } from '../../formats/format.ts';

export type FailedCall = {
  readonly kind: 'failure';
  /** The failure of this call. It decides what the call may have cost. */
  readonly failure: UpstreamFailure;
  /** False when nothing reached the upstream, so nothing can have been generated. */
  readonly requestSent: boolean;
  /** True when a stream had begun with a status of success; left out: none had. */
  readonly hasStreamed?: boolean;
  /** True when the answer was complete, so its counts are final; left out: it was not. */
  readonly isWhole?: boolean;
  /** The host's words when it refused the request with a 400; left out: it did not. */
  readonly refusal?: unknown;
  /** What had arrived by then. */
  readonly progress: Pick<
    StreamProgress,
    'usage' | 'output' | 'searches' | 'codeRuns' | 'pages' | 'isComplete'
  >;
  /**
   * Ends what has already been sent of the answer; null: nothing was sent, so another call may
   * replace this one.
   */
  readonly begun: Pick<StreamPipe<never>, 'fail'> | null;
};

/**
 * Returns the failure of a call whose answer could not be read. `billed`: the answer that arrived
 * nevertheless.
 */
export function failedCall(
  failure: UpstreamFailure,
  billed: BilledAnswer | null,
  requestSent = true,
): FailedCall {
  const usage = billed?.usage ?? null;
  const output = new OutputMeter();
  // Without usage, the output is estimated by the answer's duration instead of its bytes.
  if (billed && usage) output.addBytes(billed.writtenBytes);
  return {
    kind: 'failure',
    failure: billed ? { ...failure, isBilled: true } : failure,
    requestSent,
    isWhole: usage !== null,
    progress: { usage, output },
    begun: null,
  };
}
