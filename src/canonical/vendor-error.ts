// What a provider's refusal has beside its message.
import type { JsonObject } from '../lib/json.ts';

/** What the vendor's SDK builds its error classes from. */
export type VendorError = {
  /** OpenAI's. */
  readonly param?: string;
  readonly code?: string;
  /** Anthropic's. */
  readonly details?: JsonObject;
};
