// The timeouts of a call: the model's own override its provider's.
import type { Model } from '../../domain/catalog/model.ts';
import { firstByteDefaultsMs, type ProviderTimeouts } from '../../config/timeouts.ts';
import type { UpstreamTimeouts } from './upstream-call.ts';

/**
 * Returns the timeouts of a call. A thinking model is silent for minutes, and so is any model
 * without streaming.
 */
export function timeoutsFor(
  provider: ProviderTimeouts,
  {
    model,
    stream,
  }: { readonly model: Pick<Model, 'timeouts' | 'supports'>; readonly stream: boolean },
): UpstreamTimeouts {
  const byDefault =
    stream && !model.supports.thinking ? firstByteDefaultsMs.quick : firstByteDefaultsMs.slow;
  return { first_byte_ms: byDefault, ...provider, ...model.timeouts };
}
