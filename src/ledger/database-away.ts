// Failures that pass by themselves, on either store: whoever is told of one may send the same again in a while.
import { isServerAway } from '../db/postgres-error.ts';
import { isFileAway } from '../db/sqlite-error.ts';
import { LedgerUnavailable } from './batcher.ts';

export function isDatabaseAway(error: unknown): boolean {
  return error instanceof LedgerUnavailable || isServerAway(error) || isFileAway(error);
}
