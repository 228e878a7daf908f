// Fields of requests that nobody knows: what happens to them on a route, and how the operator learns
// of them.
import type { Config } from '../../config/schema.ts';
import type { UnknownFields } from '../../formats/field-verdicts.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { ChosenRoute } from './route.ts';

/** Logs fields that were left out, each at most once a day. */
export type NoteUnknown = (fields: ReadonlySet<string>) => void;

export function unknownFieldsAt(
  { config }: { readonly config: Pick<Config, 'limits'> },
  { passFields }: Pick<ChosenRoute, 'passFields'>,
): Required<UnknownFields> {
  return {
    opened: passFields,
    areRefused: config.limits.unknown_fields === 'refuse',
    leftOut: new Set(),
  };
}

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
    for (const field of fields) {
      if (logged.has(field) || logged.size >= namesMax) continue;
      logged.add(field);
      log.warn(
        { field },
        'a request field that nobody knows was left out; `pass_fields` lets it through (docs/formats.md)',
      );
    }
  };
}
