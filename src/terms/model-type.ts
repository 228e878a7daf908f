// What a model of the catalogue does, and which endpoint sells it. Image models have a catalogue of
// their own.

type ModelTypeFacts = {
  /** What it makes, after "The model 'x'". */
  readonly makes: string;
  readonly path: string;
};

export const modelTypes = {
  chat: { makes: 'answers conversations', path: '/v1/chat/completions' },
  embedding: { makes: 'makes embeddings', path: '/v1/embeddings' },
  speech: { makes: 'speaks texts', path: '/v1/audio/speech' },
  moderation: { makes: 'judges texts and images', path: '/v1/moderations' },
  rerank: { makes: 'ranks documents', path: '/v1/rerank' },
  transcription: { makes: 'transcribes audio', path: '/v1/audio/transcriptions' },
} as const satisfies Readonly<Record<string, ModelTypeFacts>>;

export type ModelType = keyof typeof modelTypes;

export const modelTypeNames = Object.keys(modelTypes) as readonly ModelType[];
