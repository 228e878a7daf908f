// Distinguishes OpenAI's own API from other hosts, several of which refuse unknown fields.
import type { UpstreamTarget } from '../format.ts';

/** Only OpenAI wants `max_completion_tokens`. */
export function isOpenAi({ maxTokensField }: UpstreamTarget): boolean {
  return maxTokensField === 'max_completion_tokens';
}
