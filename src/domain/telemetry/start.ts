// Loads telemetry only where it is on: a gateway without it runs none of its code.
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Telemetry } from './telemetry.ts';

/** Returns null when telemetry is off. */
export async function startTelemetry(
  settings: Config['telemetry'],
  parts: { readonly log: Logger; readonly clock: Clock },
): Promise<Telemetry | null> {
  if (settings === null) return null;
  const { openTelemetry } = await import('./telemetry.ts');
  return openTelemetry({ config: settings, ...parts });
}
