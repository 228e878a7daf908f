// The error that a stream's reader gets when the upstream failed.
import type { UpstreamFailure } from './event.ts';
import { makeFailure } from './make-failure.ts';

/** Thrown by the chunks of a stream that ends before its proper end. */
export class UpstreamBroken extends Error {
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }
}

/** An answer that cannot be used. */
export function unreadable(problem: string): UpstreamBroken {
  return new UpstreamBroken(makeFailure('unreadable', problem));
}
