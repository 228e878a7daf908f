// How vendors refuse the reasoning of earlier answers, themselves or through a host of Chat: it was
// signed or encrypted for another account, region, cloud or key, or lacks the signature.
import { objectOf } from '../lib/json.ts';
import { readErrorMessage } from './error-message.ts';

const words = new RegExp(
  [
    // Anthropic
    'invalid .?signature.? in .?thinking.? block',
    'thinking\\.signature: field required',
    // OpenAI
    'encrypted content .*(?:verified|decrypt)',
    // Google: a signature of the Gemini API is corrupt on Vertex, and the other way round.
    // github.com/mastra-ai/mastra/issues/23433 (read 2026-11-30)
    'thought.?signature',
  ].join('|'),
  'i',
);

/** `refusal`: the body of a host's 400. */
export function refusesReasoning(refusal: unknown): boolean {
  const { code } = objectOf(objectOf(refusal).error);
  return code === 'invalid_encrypted_content' || words.test(readErrorMessage(refusal) ?? '');
}
