// Headers of every answer: no cache keeps it, and no browser guesses its type.
import type { Config } from '../config/schema.ts';

/** One year: browsers' preload lists require at least that. */
const httpsSeconds = 31_536_000;

/**
 * Returns the headers; a handler may override them. Browsers are told to use HTTPS only when the
 * public URL does.
 */
export function securityHeaders({
  public_url: publicUrl,
}: Pick<Config['server'], 'public_url'>): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(publicUrl?.startsWith('https:') && {
      'strict-transport-security': `max-age=${httpsSeconds}`,
    }),
  };
}
