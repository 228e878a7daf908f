// How long a call may take: what the model's entry says goes over what its provider's says.
import type { Model } from '../catalog/model.ts';
import { firstByteDefaultsMs, type ProviderTimeouts } from '../config/timeouts.ts';
import type { UpstreamTimeouts } from './upstream.ts';

/** A model that thinks says nothing for minutes; without streaming so does any other. */
export function timeoutsFor(
  provider: ProviderTimeouts,
  { model, stream }: { readonly model: Pick<Model, 'timeouts' | 'supports'>; readonly stream: boolean },
): UpstreamTimeouts {
  const byDefault = stream && !model.supports.thinking ? firstByteDefaultsMs.quick : firstByteDefaultsMs.slow;
  return { first_byte_ms: byDefault, ...provider, ...model.timeouts };
}
