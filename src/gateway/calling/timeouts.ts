// The timeouts of a call: the model's own override its provider's.
import type { Model } from '../../domain/catalog/model.ts';
import { silenceDefaultsMs, type ProviderTimeouts } from '../../config/timeouts.ts';
import type { UpstreamTimeouts } from '../../providers/upstream-call.ts';

/**
 * Returns the timeouts of a call. By default a whole answer may use all of its time: one that is
 * given up is billed by the provider and free for the client.
 */
export function timeoutsFor(
  provider: ProviderTimeouts,
  {
    model,
    stream,
  }: { readonly model: Pick<Model, 'timeouts' | 'supports'>; readonly stream: boolean },
): UpstreamTimeouts {
  const silenceMs = model.supports.thinking ? silenceDefaultsMs.long : silenceDefaultsMs.short;
  const set = { ...provider, ...model.timeouts };
  const firstByteMs = stream ? silenceMs : set.total_ms;
  return { first_byte_ms: firstByteMs, idle_ms: silenceMs, ...set };
}
