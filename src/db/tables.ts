// The tables as all migrations leave them, the one place from which the types of rows (schema.ts) and the
// columns that are saved follow. A later migration adds its columns here, behind the others:
// `charges: { ...first.charges, colour: 'text not null' }`.
import { tables as first } from './migrations/0046-first-schema/tables.ts';

export { columnsOf, keyOf } from './migrations/0046-first-schema/words.ts';

export const tables = first;
