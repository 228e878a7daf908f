// Every migration in order. The list is static, so that a file that is missing fails at start and not at the customer's.
// A migration that was released is never edited: the next one corrects it. All of them run forward only.
import type { Migration } from 'kysely/migration';
import { foundation } from './0001-foundation.ts';
import { extensions } from './0002-extensions.ts';

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-foundation': foundation,
  '0002-extensions': extensions,
};
