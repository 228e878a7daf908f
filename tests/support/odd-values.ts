// Names, numbers, texts and schemas that parsers, validators and databases have stumbled over.
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
  'gpt-5-mini',
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
export type Holder = Record<string, unknown>;

/** Every field and item of a value, at any depth, with what holds it. */
export function placesOf(value: object): [Holder, string][] {
  return Object.entries(value).flatMap(([field, child]: [string, unknown]) => {
    const own: [Holder, string][] = [[value as Holder, field]];
    return typeof child === 'object' && child !== null ? own.concat(placesOf(child)) : own;
  });
}

/** As JSON.parse does it: `__proto__` is a field like any other. */
export function setOwn(holder: Holder, field: string, value: unknown): void {
  Object.defineProperty(holder, field, { value, writable: true, enumerable: true, configurable: true });
}
