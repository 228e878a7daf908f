// The headers that every answer has, whichever way it leaves: kept by nobody on its way, read as nothing but what it says it is.
import type { Config } from '../config/schema.ts';

/** A year, the least that browsers' preload lists take. */
const httpsSeconds = 31_536_000;

/** What a handler sets itself goes over these. Browsers are told to come by https alone where that is the public address. */
export function securityHeaders({
  public_url: publicUrl,
}: Pick<Config['server'], 'public_url'>): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(publicUrl?.startsWith('https:') && { 'strict-transport-security': `max-age=${httpsSeconds}` }),
  };
}
