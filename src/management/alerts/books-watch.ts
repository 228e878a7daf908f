// Tells that the books cannot be written. The outbox is in the same database, so the event goes out from
// memory, to the operators' endpoints as they were last read. The outbox gets it when it can be written.
import type { Database } from '../../db/database.ts';
import type { Channels, StoredEvent } from '../../domain/alerts/channels.ts';
import { type EndpointRow, readTarget } from '../../domain/alerts/endpoints.ts';
import { readHearers, recordTold } from '../../domain/alerts/outbox.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { Secrets } from '../../lib/secrets.ts';

type Parts = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly channels: Channels;
  readonly gateway: Gateway;
};

/** A restart of the database is shorter. */
const patienceMs = 15_000;
const againMs = 30_000;

/** Returns a look, to be repeated every few seconds. */
export function watchBooks({ database, secrets, channels, gateway }: Parts) {
  let hearers: readonly EndpointRow[] = [];
  let sinceMs: number | null = null;
  let event: StoredEvent | null = null;
  let notBeforeMs = 0;
  const told = new Set<string>();
  return async (nowMs: number): Promise<void> => {
    if (!gateway.books.ledger.isFailing()) {
      sinceMs = null;
      hearers = await readHearers(database.read, 'books.not_writable');
      if (event) await recordTold(database.write, event, told);
      event = null;
      told.clear();
      return;
    }
    sinceMs ??= nowMs;
    if (nowMs - sinceMs < patienceMs || nowMs < notBeforeMs) return;
    notBeforeMs = nowMs + againMs;
    const data = JSON.stringify({ since: new Date(sinceMs).toISOString() });
    event ??= {
      id: newIdWithPrefix('evt'),
      type: 'books.not_writable',
      data,
      createdAtMs: nowMs,
    };
    for (const endpoint of hearers.filter(({ id }) => !told.has(id))) {
      const target = await readTarget(secrets, endpoint);
      const sent = await channels.send(target, event, new AbortController().signal);
      if (sent.kind === 'sent') told.add(endpoint.id);
    }
  };
}
