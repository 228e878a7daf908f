// OpenAI's form of speech. https://platform.openai.com/docs/api-reference/audio/createSpeech
import { readTokenCounts } from '../../canonical/usage.ts';
import { objectOf } from '../../lib/json.ts';
import { speechFormatNames, type SpeechFormat } from '../../terms/speech.ts';
import { readBase64, type SpeechHost } from './host.ts';

export const openAi = openAiForm(speechFormatNames);

export function openAiForm(formats: readonly SpeechFormat[]): SpeechHost {
  return {
    formats,
    ignores: [],
    // Bytes come without a count, so what is billed by tokens comes as events.
    write: ({ upstreamModel, input, voice, instructions, format, speed, isByTokens }) => ({
      path: '/audio/speech',
      answer: isByTokens ? 'events' : 'bytes',
      body: {
        model: upstreamModel,
        input,
        voice,
        response_format: format,
        ...(instructions !== null && { instructions }),
        ...(speed !== null && { speed }),
        ...(isByTokens && { stream_format: 'sse' }),
      },
    }),
    // vLLM-Omni has `delta` (github.com/vllm-project/vllm-omni/pull/4490, read 2026-11-30).
    read({ type, delta, audio = delta, usage }) {
      const { input_tokens: input, output_tokens: output } = objectOf(usage);
      if (type === 'speech.audio.done') return { count: readTokenCounts(input, output) };
      if (type !== 'speech.audio.delta') return {};
      const bytes = readBase64(audio);
      return bytes && { audio: bytes };
    },
  };
}
