// A request for speech: characters at the model's price, or the provider's tokens. The audio is passed on
// as it comes.
import { invalidRequest } from '../../canonical/errors.ts';
import { parseSpeechRequest, type SpeechRequest } from '../../domain/tasks/speech-request.ts';
import { formatSse } from '../../lib/sse.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { utf8Length } from '../../lib/tokens-from-bytes.ts';
import { speechHostOf } from '../../providers/speech/index.ts';
import { speakAt } from './speak-at.ts';
import { usageOfTokens, type Size } from './task-price.ts';
import { taskEndpoint } from './task-sale.ts';

export const speechEndpoint = taskEndpoint({
  type: 'speech',
  endpoint: 'speech',
  read: parseSpeechRequest,
  hostOf: ({ kind, provider }) => speechHostOf({ kind: kind.kind, wishes: provider.wishes.speech }),
  serves: ({ formats }, { format }) => format === null || formats.includes(format),
  refuse({ format }, { id }, hosts) {
    const formats = [...new Set(hosts.flatMap((host) => host.formats))];
    return invalidRequest(
      'response_format',
      `response_format must be one of ${formats.join(', ')} for ${id}, or left out; got ${format}`,
    );
  },
  measure(request) {
    const { tokens, byTokens } = estimateOf(request);
    const units = { units: request.characters };
    const byUnit = { each: { units: 1 }, likely: units, most: units };
    const unit = { one: 'character', many: 'characters' };
    return {
      prompt: () => request.input,
      tokens,
      sizeAs: (isByUnit) => ({
        unit,
        count: request.characters,
        ...(isByUnit ? byUnit : byTokens),
      }),
    };
  },
  isStream: () => true,
  call: speakAt,
  ignoredAt: ({ ignores }, request) => ignores.filter((name) => request[name] !== null),
  answer(_, { request, count, stream }) {
    if (request.isEvents)
      stream.lastFrame = (cost) => {
        const usage = { ...usageOfTokens(count), cost };
        return formatSse(null, JSON.stringify({ type: 'speech.audio.done', usage }));
      };
    return { begun: stream };
  },
});

/**
 * Recorded voices speak 12 to 18 characters a second, at 21 to 50 tokens a second. Digits and slow speech
 * take several times as long.
 */
const tokensPerCharacter = { likely: 2, most: 10 };
/** For a text so short that its silence counts. */
const leastTokens = 100;

function estimateOf({ input, instructions, characters, speed }: SpeechRequest) {
  const { upper: inputTokens, likely } = estimateInputTokens([input, instructions ?? '']);
  const slowness = 1 / Math.min(speed ?? 1, 1);
  // A syllable of other scripts is one character of several bytes.
  const bytes = utf8Length(input);
  const each = Math.ceil((tokensPerCharacter.most * bytes * slowness) / characters);
  const spoken = Math.ceil(tokensPerCharacter.likely * bytes * slowness);
  const byTokens = {
    each: { outputTokens: each },
    beside: { inputTokens, outputTokens: leastTokens },
    likely: { inputTokens: likely, outputTokens: spoken },
    most: { inputTokens, outputTokens: each * characters + leastTokens },
  } satisfies Partial<Size>;
  return { tokens: likely + spoken, byTokens };
}
