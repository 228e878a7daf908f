// A successful answer as it was sent, stored for requests that repeat it.
import type { Micros } from '../lib/money.ts';
import { totalInputTokens, type Usage } from './usage.ts';

export type StoredResponse = {
  readonly status: number;
  readonly contentType: string;
  /** Those that are part of the answer; what it cost is said anew. */
  readonly headers: Readonly<Record<string, string>>;
  /** null: not kept, being too long, or its account keeping none. */
  readonly body: string | null;
  /** From now on, where what it points to ends before it does. */
  readonly usableForMs?: number;
  /** Left out: not known. */
  readonly worth?: AnswerWorth;
};

/** The original charge and tokens of an answer, cached input included: what each replay saves. */
export type AnswerWorth = {
  readonly costMicros: Micros;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

export function worthOf({
  costMicros,
  usage,
}: {
  readonly costMicros: Micros;
  readonly usage: Usage;
}): AnswerWorth {
  return { costMicros, inputTokens: totalInputTokens(usage), outputTokens: usage.outputTokens };
}

/** As a database row has it. */
type WorthColumns = {
  readonly cost_micros: Micros | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
};

export function worthOfRow({
  cost_micros: costMicros,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
}: WorthColumns) {
  return costMicros === null
    ? {}
    : { worth: { costMicros, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 } };
}

/** A stored response whose body was kept. */
export type WholeResponse = StoredResponse & { readonly body: string };
