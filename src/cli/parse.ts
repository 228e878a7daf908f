// What people type into options, read strictly: a slip in an amount of money must be told, not guessed at.
import { InvalidArgumentError } from 'commander';
import { microsFromUsd, type Micros } from '../lib/money.ts';

/**
 * What "none" is read as: the limit is cleared. A value of its own, since commander takes a null for a value that is missing, and puts ''
 * in its place.
 */
export const none = Symbol('none');
export type OrNone<Value> = Value | typeof none;

const noneText = 'none';

export function parseName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 200) throw new InvalidArgumentError('It must have 1 to 200 characters.');
  return name;
}

/** A positive amount in dollars. */
export function parseUsd(text: string): Micros {
  const amount = readUsd(text);
  if (amount <= 0) throw new InvalidArgumentError('It must be more than 0.');
  return amount;
}

/** An amount of at least 0. */
export function parseUsdCap(text: string): OrNone<Micros> {
  if (text === noneText) return none;
  const amount = readUsd(text);
  if (amount < 0) throw new InvalidArgumentError('It must be 0 or more, or "none".');
  return amount;
}

export function parseCount(text: string): OrNone<number> {
  if (text === noneText) return none;
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, or "none".');
  return Number(text);
}

/** Names as typed; which models they are is looked up later. */
export function parseModelList(text: string): OrNone<readonly string[]> {
  if (text === noneText) return none;
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => name === '')) throw new InvalidArgumentError('It must be model ids separated by commas, or "none".');
  return names;
}

/** A UTC day, `2026-11-21`, as the time it begins. */
export function parseDay(text: string): number {
  const timeMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs) || new Date(timeMs).toISOString().slice(0, 10) !== text) {
    throw new InvalidArgumentError('It must be a day, such as 2026-11-21.');
  }
  return timeMs;
}

/** A factor with at most six decimals, in millionths. */
export function parseFactor(text: string): number {
  const millionths = readUsd(text);
  if (millionths < 0 || millionths > 1_000 * 1_000_000) throw new InvalidArgumentError('It must be from 0 to 1000.');
  return millionths;
}

export function parseFactorOrNone(text: string): OrNone<number> {
  return text === noneText ? none : parseFactor(text);
}

function readUsd(text: string): Micros {
  try {
    return microsFromUsd(text);
  } catch {
    throw new InvalidArgumentError('It must be an amount in US dollars with at most six decimals, such as 12.50.');
  }
}
