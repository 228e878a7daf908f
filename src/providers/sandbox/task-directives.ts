// The directives of models that do not answer conversations: `delay_ms`, `status`, and those of one task.
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { Clock } from '../../lib/clock.ts';
import { numberReader, readDirectiveLines, type Readers } from './directive-lines.ts';
import { failureWithStatus, refuse } from './failures.ts';

export type Playing = { readonly signal: AbortSignal; readonly clock: Clock };
type Common = { readonly delayMs: number; readonly status: number | null };
type OwnDirectives<Own> = {
  readonly none: Own;
  readonly readers: Readers<Common & Own>;
  readonly repeatable?: string;
};

/**
 * Waits and fails as the text says. Returns the text without its directives. Throws UpstreamBroken.
 */
export async function followDirectives<Own extends object = object>(
  text: string,
  { signal, clock }: Playing,
  own: OwnDirectives<Own> = { none: {} as Own, readers: {} },
): Promise<{ readonly text: string; readonly directives: Own }> {
  const read = readDirectiveLines<Common & Own>(text, {
    none: { delayMs: 0, status: null, ...own.none },
    readers: {
      delay_ms: numberReader('delayMs', 0, 600_000),
      status: numberReader('status', 400, 599),
      ...own.readers,
    },
    ...(own.repeatable !== undefined && { repeatable: own.repeatable }),
  });
  if (read.kind === 'malformed') refuse(read.message);
  const { directives } = read;
  if (directives.delayMs > 0) await clock.sleep(directives.delayMs, signal);
  if (directives.status !== null) throw new UpstreamBroken(failureWithStatus(directives.status));
  return { text: read.text, directives };
}
