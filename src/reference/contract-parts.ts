// Parts of a description that follow from a contract: ids and parameters.
import { Type, type TObject, type TSchema } from 'typebox';
import type { Parameter } from './operation.ts';

/** `GET /accounts/:account/keys/:key` is `getAccountsAccountKeysKey`. */
export function idOf(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.map((word, index) => (index === 0 ? word : capitalize(word))).join('');
}

export function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

export function pathParameters(name: string): Parameter[] {
  return [...name.matchAll(/:(\w+)/g)].map((match) => ({
    name: match[1]!,
    in: 'path',
    description: 'An id.',
    schema: Type.String(),
  }));
}

export function queryParameters(query: TObject | undefined): Parameter[] {
  const required: readonly string[] = query?.required ?? [];
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    isRequired: required.includes(name),
    schema,
  }));
}
