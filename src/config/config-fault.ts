// Faults that only show together with other data, such as an alias to a missing model. They are found
// after loading, so they are apart from the code that loads: it is large, and HTTP threads get a
// loaded configuration.
import { ConfigError, formatPath, type FieldPath } from './config-error.ts';
import type { FaultAt } from './field-values.ts';
import type { Config } from './schema.ts';

/** Creates faults with line numbers for each configuration that this thread loaded. */
export const faultMakers = new WeakMap<Config, FaultAt>();

/** Creates a fault of a loaded configuration. */
export function configFault(
  config: Config,
  path: FieldPath,
  what: { readonly problem: string; readonly remedy: string },
): ConfigError {
  const faultAt = faultMakers.get(config);
  return faultAt ? faultAt(path, what) : new ConfigError({ field: formatPath(path), ...what });
}
