// Calls a route once more without what its host has just refused: reasoning that it cannot decrypt,
// or summaries, which are then no longer asked for there for a while.
import { upstreamFormats } from '../../formats/registry.ts';
import { parseWithArguments } from '../../lib/exact-json.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { FailedCall } from '../calling/failed-call.ts';
import type { Routing } from './routing.ts';
import type { Attempt } from './plan.ts';

type Refused = Pick<FailedCall, 'refusal'>;

/** Returns null when the refusal is about something else. */
export function lighten(
  routing: Pick<Routing, 'refusedSummaries'>,
  attempt: Attempt,
  { refusal }: Refused,
): Attempt | null {
  const { route, written } = attempt;
  const { withoutRefused } = upstreamFormats[route.format];
  if (refusal === undefined || !withoutRefused) return null;
  const lighter = withoutRefused(parseWithArguments(written.body) as JsonObject, refusal);
  if (!lighter) return null;
  if (lighter.isLasting) routing.refusedSummaries.note(route.name);
  const ignored = [...new Set([...written.ignored, ...lighter.ignored])];
  const body = JSON.stringify(lighter.body);
  return { ...attempt, refusal, written: { ...written, body, ignored } };
}
