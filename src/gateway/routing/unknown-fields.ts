// Tells the operator of request fields that nobody knows and that were left out.
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { dayOf } from '../../lib/utc-time.ts';

/** Logs each field once a day. */
export type NoteUnknown = (fields: ReadonlySet<string>) => void;

/** Anything else could be a client's words, which are kept nowhere. */
const isName = (part: string): boolean => /^[\w$-]{1,64}$/.test(part);

/** Clients choose the names, so only so many are logged, and remembered, in a day. */
const namesMax = 200;

export function createUnknownNotices(
  log: Pick<Logger, 'warn'>,
  clock: Pick<Clock, 'nowMs'>,
): NoteUnknown {
  let today = '';
  const logged = new Set<string>();
  return (fields) => {
    if (fields.size === 0) return;
    const day = dayOf(clock.nowMs());
    if (day !== today) logged.clear();
    today = day;
    for (const path of fields) {
      const field = path.split('.').every(isName) ? path : 'an unusual name';
      if (logged.has(field) || logged.size >= namesMax) continue;
      logged.add(field);
      log.warn(
        { field },
        'an unknown request field was left out; `pass_fields` lets it through (docs/formats.md)',
      );
    }
  };
}
