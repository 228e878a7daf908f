// Searches by a part of a text.
import { sql, type SqlBool } from 'kysely';

/** A condition: the column contains the text, in any case. */
export function contains(column: string, text: string) {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql<SqlBool>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`;
}
