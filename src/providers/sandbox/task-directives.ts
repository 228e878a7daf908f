// The directives of models that do not answer conversations: `delay_ms`, `status`, and those of one task.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Clock } from '../../lib/clock.ts';
import { numberReader, readDirectiveLines, type Readers } from './directive-lines.ts';
import { failureWithStatus, refusal } from './failures.ts';

type Common = { readonly delayMs: number; readonly status: number | null };
type Playing = { readonly signal: AbortSignal; readonly clock: Clock };
type OwnDirectives<Own> = {
  readonly none: Own;
  readonly readers: Readers<Common & Own>;
  readonly repeatable?: string;
};

type Followed<Own> =
  | { readonly kind: 'go'; readonly text: string; readonly directives: Own }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

/** Waits and fails as the text says. `text`: without its directives. */
export async function followDirectives<Own extends object = object>(
  text: string,
  { signal, clock }: Playing,
  own: OwnDirectives<Own> = { none: {} as Own, readers: {} },
): Promise<Followed<Own>> {
  const read = readDirectiveLines<Common & Own>(text, {
    none: { delayMs: 0, status: null, ...own.none },
    readers: {
      delay_ms: numberReader('delayMs', 0, 600_000),
      status: numberReader('status', 400, 599),
      ...own.readers,
    },
    ...(own.repeatable !== undefined && { repeatable: own.repeatable }),
  });
  if (read.kind === 'malformed') return { kind: 'failure', failure: refusal(read.message) };
  const { directives } = read;
  if (directives.delayMs > 0) await clock.sleep(directives.delayMs, signal);
  return directives.status === null
    ? { kind: 'go', text: read.text, directives }
    : { kind: 'failure', failure: failureWithStatus(directives.status) };
}
