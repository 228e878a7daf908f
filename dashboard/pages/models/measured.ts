// Texts of the account's own measurements of a model.
import type { MeasuredModel } from '../../../src/management/contract/models.ts';
import { countText, durationText } from '../../parts/number-text.ts';

/** By model id. Models without requests are missing. */
export type Measurements = ReadonlyMap<string, MeasuredModel>;

/** Rounds down, so that 100% means that no request failed. */
export function uptimeText({ answered, failed }: MeasuredModel): string {
  const basisPoints = Math.floor((10_000 * answered) / (answered + failed));
  return `${basisPoints / 100}%`;
}

/** `820 ms`: the median time to the first token; null: it was not measured. */
export function firstTokenText({ first_token: first }: MeasuredModel): string | null {
  return first && durationText(first.p50_ms);
}

/** `74 tokens/s`; null: it was not measured. */
export function speedText({ tokens_per_second: speed }: MeasuredModel): string | null {
  if (speed === null) return null;
  return `${speed < 10 ? speed.toFixed(1) : countText(Math.round(speed))} tokens/s`;
}
