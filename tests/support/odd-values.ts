// Names, numbers, texts and schemas that have broken parsers, validators and databases.
import type { Json } from './rich-bodies.ts';

export const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  'ключ',
  'a\r\nb',
  '\ud800',
  '',
  'x'.repeat(3_000),
  'type',
  'role',
  'n',
];
export const oddNumbers = [0, -0, -1, 0.5, 1e308, -1e308, 5e-324, 2 ** 53, 1e21, 2_147_483_648];
export const oddTexts = [
  '',
  ' ',
  '\0',
  '\ud800',
  '👩‍👩‍👧',
  'null',
  'NaN',
  '../..',
  '{',
  'x'.repeat(5_000),
  'gpt-6-luna',
  'claude-haiku-4-5',
  'auto',
];
export const oddSchemas: readonly Json[] = [
  { $ref: '#' },
  { type: 'string', pattern: '(a+)+$' },
  { type: 'array', items: { $ref: '#' }, minItems: 9_999 },
  { allOf: Array.from({ length: 40 }, () => ({ $ref: '#/x' })), x: { oneOf: [{}, { $ref: '#' }] } },
  { type: 'object', required: ['__proto__', 'a'], properties: { a: { type: ['string', 7] } } },
];
export type Parent = Record<string, unknown>;

/** Returns every field and item of a value, at any depth, with its parent. */
export function fieldsOf(value: object): [Parent, string][] {
  return Object.entries(value).flatMap(([field, child]: [string, unknown]) => {
    const own: [Parent, string][] = [[value as Parent, field]];
    return typeof child === 'object' && child !== null ? own.concat(fieldsOf(child)) : own;
  });
}

/** Sets a field as JSON.parse does: `__proto__` is a field like any other. */
export function setOwnField(parent: Parent, field: string, value: unknown): void {
  Object.defineProperty(parent, field, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
