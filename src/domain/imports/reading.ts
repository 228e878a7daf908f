// Reads values of other gateways' databases, where products and stores differ in types.
import { readExactJson, type ForeignRow } from '../../db/foreign.ts';

/** Returns '' for null, and for what could not be opened. */
export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined || typeof value === 'symbol'
    ? ''
    : JSON.stringify(value);
}

export function isTrue(value: unknown): boolean {
  return ['1', 'true', 't'].includes(text(value));
}

/** Splits at commas and line ends. */
export function wordsOf(value: unknown): readonly string[] {
  const words = text(value).split(/[,\n]/);
  return words.map((word) => word.trim()).filter((word) => word !== '');
}

/** Returns a list, of JSON or read before; empty when it is none. */
export function listOf(value: unknown): readonly unknown[] {
  const list = parsed(value);
  return Array.isArray(list) ? list : [];
}

/** Returns an object, of JSON or read before; empty when it is none. */
export function objectOf(value: unknown): ForeignRow {
  const object = parsed(value);
  return typeof object === 'object' && object !== null && !Array.isArray(object)
    ? Object.assign(Object.create(null) as ForeignRow, object)
    : {};
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return readExactJson(value);
  } catch {
    return null;
  }
}
