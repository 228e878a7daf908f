// The semantic conventions that telemetry follows, and the names that it takes from them.
// https://github.com/open-telemetry/semantic-conventions/tree/v1.41.1/docs/gen-ai
import { withoutOwnKey } from '../../terms/own-key.ts';
import { chargedEndpointAt } from '../../terms/charged-endpoints.ts';

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
  const known = withoutOwnKey(provider);
  return providerNames[known] ?? known;
}

/**
 * Returns `gen_ai.operation.name` of a request: that of its endpoint, or the last part of the path
 * that called a provider. null: it runs no model.
 */
export function operationOf({ route, spans }: OperationFacts): string | null {
  const { operation } = chargedEndpointAt(route) ?? {};
  return operation ?? (spans.lastCall ? route.slice(route.lastIndexOf('/') + 1) : null);
}

type OperationFacts = {
  readonly route: string;
  readonly spans: { readonly lastCall: object | undefined };
};

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
