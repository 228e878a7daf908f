// The options that limit how much may be asked for, the same for a key and for an account.
import { orNull, type OrNone } from './parse.ts';

export type RequestLimitOptions = {
  readonly rpm?: OrNone<number>;
  readonly tpm?: OrNone<number>;
  readonly concurrency?: OrNone<number>;
  readonly allow?: OrNone<readonly string[]>;
};

/** Those that were given; null clears. */
export function requestLimitsOf({ rpm, tpm, concurrency, allow }: RequestLimitOptions) {
  return {
    ...(rpm !== undefined && { requestsPerMinute: orNull(rpm) }),
    ...(tpm !== undefined && { tokensPerMinute: orNull(tpm) }),
    ...(concurrency !== undefined && { concurrentRequests: orNull(concurrency) }),
    ...(allow !== undefined && { allowedAddresses: orNull(allow) }),
  };
}
