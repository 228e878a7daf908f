// What batches need of the program. serving.ts assembles it.
import type { BatchFiles } from '../../domain/batches/batch-files.ts';
import type { BatchStore } from '../../domain/batches/batch-store.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { RequestListener } from '../../events/request-listener.ts';
import type { Gateway } from '../gateway.ts';
import type { Caller } from '../request.ts';
import type { Endpoint } from '../stages.ts';

export type BatchParts = {
  readonly gateway: Gateway;
  readonly store: BatchStore;
  readonly files: BatchFiles;
  /** What lines may ask for, by path. */
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  readonly findKey: (accountId: string, keyId: string) => Promise<ApiKey | 'revoked' | null>;
  readonly listeners: readonly RequestListener[];
  /** Large lines are read one after the other, among the large requests (Caller's `nextTurn`). */
  readonly turnsOf: (body: Buffer) => Caller['nextTurn'];
  /** True while new live requests are refused. */
  readonly isOverloaded: () => boolean;
};
