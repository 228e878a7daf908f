// The fields of a provider's error that a client of the same format gets besides the message.
import type { JsonObject } from '../lib/json.ts';

/** The vendor's SDK chooses its error class by these fields. */
export type VendorError = {
  /** OpenAI's. */
  readonly param?: string;
  readonly code?: string;
  /** Anthropic's. */
  readonly details?: JsonObject;
};
