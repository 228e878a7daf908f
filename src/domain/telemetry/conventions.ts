// The semantic conventions that telemetry follows, and the names that it takes from them.
// https://github.com/open-telemetry/semantic-conventions/tree/v1.41.1/docs/gen-ai

/** The version of the conventions. */
const conventionsVersion = '1.41.1';
export const schemaUrl = `https://opentelemetry.io/schemas/${conventionsVersion}`;

/** `gen_ai.provider.name` of the providers that the conventions know by another name. */
const providerNames: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

/** Returns the conventions' name of a provider; the sandbox and the operator's own keep theirs. */
export function providerNameOf(provider: string): string {
  return providerNames[provider] ?? provider;
}

/** `gen_ai.operation.name` by the route of a request; other routes run no model. */
const operations: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/messages': 'chat',
  '/v1/responses': 'chat',
  '/v1/images/generations': 'generate_content',
  '/v1/images/edits': 'generate_content',
  '/v1/web-search': 'retrieval',
};

export function operationOf(route: string): string | null {
  return operations[route] ?? null;
}

/** The conventions' finish reasons follow Chat Completions. */
export const finishReasonOf = {
  end: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_call',
  length: 'length',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
  pause: 'pause',
} as const;
