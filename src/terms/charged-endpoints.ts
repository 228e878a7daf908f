// The charged endpoints, by their public paths.

type ChargedEndpoint = {
  /** In usage records, the history and the dashboard's filter. */
  readonly name: string;
  /** `gen_ai.operation.name` of OpenTelemetry's conventions. */
  readonly operation:
    | 'chat'
    | 'text_completion'
    | 'embeddings'
    | 'rerank'
    | 'moderation'
    | 'generate_content'
    | 'retrieval';
};

export const chargedEndpoints = {
  '/v1/responses': { name: 'responses', operation: 'chat' },
  '/v1/responses/compact': { name: 'responses', operation: 'chat' },
  '/v1/chat/completions': { name: 'chat', operation: 'chat' },
  '/v1/completions': { name: 'completions', operation: 'text_completion' },
  '/v1/messages': { name: 'messages', operation: 'chat' },
  '/v1beta/generateContent/*': { name: 'gemini', operation: 'generate_content' },
  '/v1beta/streamGenerateContent/*': { name: 'gemini', operation: 'generate_content' },
  '/v1/embeddings': { name: 'embeddings', operation: 'embeddings' },
  '/v1beta/embedContent/*': { name: 'embeddings', operation: 'embeddings' },
  '/v1beta/batchEmbedContents/*': { name: 'embeddings', operation: 'embeddings' },
  '/v1/audio/speech': { name: 'speech', operation: 'generate_content' },
  '/v1/rerank': { name: 'rerank', operation: 'rerank' },
  '/v2/rerank': { name: 'rerank', operation: 'rerank' },
  '/v1/moderations': { name: 'moderations', operation: 'moderation' },
  '/v1/audio/transcriptions': { name: 'transcriptions', operation: 'generate_content' },
  '/v1/audio/translations': { name: 'transcriptions', operation: 'generate_content' },
  '/v1/images/generations': { name: 'images', operation: 'generate_content' },
  '/v1/images/edits': { name: 'images', operation: 'generate_content' },
  '/v1/web-search': { name: 'web-search', operation: 'retrieval' },
} as const satisfies Readonly<Record<string, ChargedEndpoint>>;

export type ChargedPath = keyof typeof chargedEndpoints;

/** Returns null for a path that is not charged for. */
export function chargedEndpointAt(path: string): ChargedEndpoint | null {
  return Object.hasOwn(chargedEndpoints, path) ? chargedEndpoints[path as ChargedPath] : null;
}

export const endpointNames = [...new Set(Object.values(chargedEndpoints).map(({ name }) => name))];
