// OpenAI's own API among the many hosts that speak its format: several of these refuse fields that they do not know.
import type { UpstreamTarget } from '../format.ts';

/** Only OpenAI wants `max_completion_tokens`. */
export function isOpenAi({ maxTokensField }: UpstreamTarget): boolean {
  return maxTokensField === 'max_completion_tokens';
}
