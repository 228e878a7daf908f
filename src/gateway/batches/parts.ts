// The parts of the program that batches use. serving.ts passes them.
import type { BatchFiles } from '../../domain/batches/batch-files.ts';
import type { BatchStore } from '../../domain/batches/batch-store.ts';
import type { SentBatches } from '../../domain/batches/sent-batches.ts';
import type { KeyStore } from '../../domain/keys/key-store.ts';
import type { RequestListener } from '../../events/request-listener.ts';
import type { Gateway } from '../gateway.ts';
import type { Caller } from '../request.ts';
import type { Endpoint } from '../stages.ts';

export type BatchParts = {
  readonly gateway: Gateway;
  readonly store: BatchStore;
  readonly files: BatchFiles;
  readonly sent: SentBatches;
  /** The endpoints that lines may use, by path. */
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  readonly keys: Pick<KeyStore, 'findById' | 'findEver'>;
  readonly listeners: readonly RequestListener[];
  /** Large lines are read one after the other, among the large requests (Caller's `nextTurn`). */
  readonly turnsOf: (body: Buffer) => Caller['nextTurn'];
  /** True while new live requests are refused. */
  readonly isOverloaded: () => boolean;
};
