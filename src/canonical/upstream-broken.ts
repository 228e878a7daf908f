// The error that a stream's reader gets when the upstream failed.
import type { UpstreamFailure } from './event.ts';

/** Thrown by the chunks of a stream that ends before its proper end. */
export class UpstreamBroken extends Error {
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }
}
