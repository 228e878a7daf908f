// A successful answer as it was sent, stored for requests that repeat it.
import type { Micros } from '../lib/money.ts';
import { totalInputTokens, type Usage } from '../canonical/usage.ts';

export type StoredResponse = {
  readonly status: number;
  readonly contentType: string;
  /** Headers that belong to the answer. A replay writes its own cost headers. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Bytes, because a text would be encoded each time it is sent. null when it was too long, or the
   * account stores no answers.
   */
  readonly body: Buffer | null;
  /** The body, compressed as the store does it; left out: not yet. */
  readonly packed?: Buffer;
  /** Milliseconds until a link in the answer expires; left out when none does. */
  readonly usableForMs?: number;
  /** Left out when unknown. */
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
export type WholeResponse = StoredResponse & { readonly body: Buffer };
