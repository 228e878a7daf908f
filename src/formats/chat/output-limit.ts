// The field that limits the output: OpenAI's newer models want `max_completion_tokens`; most other
// hosts know only `max_tokens`.
import type { UpstreamTarget } from '../format.ts';

export function outputLimitField({
  isOpenAi,
}: Pick<UpstreamTarget, 'isOpenAi'>): 'max_tokens' | 'max_completion_tokens' {
  return isOpenAi ? 'max_completion_tokens' : 'max_tokens';
}
