// The calls a minute that operators allow with a credential (`providers.<name>.requests_per_minute`),
// counted by all gateways together.
import type { Config } from '../../config/schema.ts';
import type { Rates } from '../../domain/limits/rates.ts';

/** Returns true, and counts a call, when a provider may be called. */
export type TakeCall = (provider: string) => boolean | Promise<boolean>;

export function limitCalls(
  { providers }: Pick<Config, 'providers'>,
  rates: Pick<Rates, 'take'>,
): TakeCall {
  return (provider) => {
    // Accounts' own keys have no entry.
    const perMinute = providers[provider]?.requests_per_minute ?? null;
    if (perMinute === null) return true;
    const taken = rates.take({ id: `calls ${provider}`, perMinute }, 1);
    return taken instanceof Promise ? taken.then(({ isGranted }) => isGranted) : taken.isGranted;
  };
}
