// What is embedded, and what for.

/** Some models make other vectors of a query than of a document. */
export const embeddingPurposes = ['query', 'document', 'classification', 'clustering'] as const;
export type EmbeddingPurpose = (typeof embeddingPurposes)[number];

/** A text, or its tokens. */
export type EmbeddingInput = string | readonly number[];

export type EmbeddingEncoding = 'float' | 'base64';
