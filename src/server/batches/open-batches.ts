// Opens the batches of a thread.
import { BatchFiles } from '../../domain/batches/batch-files.ts';
import { SentBatches } from '../../domain/batches/sent-batches.ts';
import { BatchStore } from '../../domain/batches/batch-store.ts';
import type { BatchParts } from '../../gateway/batches/parts.ts';
import { BatchQueue } from '../../gateway/batches/queue.ts';
import type { ServerContext } from '../context.ts';
import { batchEndpoints } from '../sales.ts';

type Options = Pick<
  ServerContext,
  'gateway' | 'database' | 'secrets' | 'keys' | 'overload' | 'largeBodies'
> &
  Pick<BatchParts, 'listeners'>;

export function openBatches({
  gateway,
  database,
  secrets,
  keys,
  overload,
  largeBodies,
  listeners,
}: Options): ServerContext['batches'] {
  const parts: BatchParts = {
    gateway,
    store: new BatchStore(database, secrets),
    files: new BatchFiles(database, secrets),
    sent: new SentBatches(database),
    endpoints: batchEndpoints,
    keys,
    listeners,
    turnsOf: (body) => largeBodies.turnsOf(body),
    isOverloaded: () => overload.reason !== null,
  };
  return { parts, queue: new BatchQueue(parts) };
}
