// What is embedded, and what for.

/** Some models make other vectors of a query than of a document. */
export type EmbeddingPurpose = 'query' | 'document' | 'classification' | 'clustering';

/** A text, or its tokens. */
export type EmbeddingInput = string | readonly number[];

export type EmbeddingEncoding = 'float' | 'base64';
