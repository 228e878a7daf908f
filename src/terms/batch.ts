// Batches: many requests that are sent at once and answered later.

/** Owns the holds of lines that wait. Its lease never ends, so their batch must end them. */
export const batchOwner = 'batches';

/** The client's API: OpenAI's files and batches, or Anthropic's message batches. */
export type BatchForm = 'openai' | 'anthropic';

export type LineOutcome = 'succeeded' | 'errored' | 'canceled' | 'expired';

export const batchStatuses = [
  'in_progress',
  'cancelling',
  'completed',
  'cancelled',
  'expired',
] as const;
export type BatchStatus = (typeof batchStatuses)[number];

export const batchLinesMax = 50_000;
/** The longest request of a batch, as JSON. */
export const batchLineBytesMax = 4 * 1024 * 1024;
export const batchFileBytesMax = 200 * 1024 * 1024;

/** The endpoints that lines may use. */
export const batchPaths = {
  openai: [
    '/v1/responses',
    '/v1/chat/completions',
    '/v1/embeddings',
    '/v1/completions',
    '/v1/moderations',
  ],
  anthropic: ['/v1/messages'],
} as const satisfies Record<BatchForm, readonly string[]>;
