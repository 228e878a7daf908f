// A request for speech: characters at the model's price, or the provider's tokens. The audio is passed on
// as it comes.
import { invalidRequest } from '../../canonical/errors.ts';
import type { TokenCounts } from '../../canonical/usage.ts';
import { unreadable, UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { parseSpeechRequest, type SpeechRequest } from '../../domain/tasks/speech-request.ts';
import { brokenStream } from '../../formats/stream-progress.ts';
import { formatSse } from '../../lib/sse.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { utf8Length } from '../../lib/tokens-from-bytes.ts';
import { sandboxFormatOf, speakInSandbox } from '../../providers/sandbox/speak.ts';
import type { SpeechHost, SpeechPiece } from '../../providers/speech/host.ts';
import { speechHostOf } from '../../providers/speech/index.ts';
import { speechFormats } from '../../terms/speech.ts';
import { readJsonEvents } from '../calling/read-events.ts';
import { openTask, sendTask } from './task-call.ts';
import { sizeBy, usageOfTokens, type Size } from './task-price.ts';
import { taskEndpoint, type Called, type Calling, type TaskRoute } from './task-sale.ts';
import { eventsType } from '../answering/output.ts';

export const speechEndpoint = taskEndpoint({
  type: 'speech',
  endpoint: 'speech',
  read: parseSpeechRequest,
  hostOf: speechHostOf,
  serves: ({ formats }, { format }) => format === null || formats.includes(format),
  refuse({ format }, { id }, hosts) {
    const formats = [...new Set(hosts.flatMap((host) => host.formats))];
    return invalidRequest(
      'response_format',
      `response_format must be one of ${formats.join(', ')} for ${id}, or left out; got ${format}`,
    );
  },
  measure(request) {
    const { characters: count } = request;
    const { tokens, byTokens } = estimateOf(request);
    const unit = { one: 'character', many: 'characters' };
    return {
      prompt: () => request.input,
      tokens,
      sizeAs: (isByUnit) =>
        isByUnit
          ? sizeBy('units', unit, { upper: count, likely: count, most: count })
          : { unit, count, ...byTokens },
    };
  },
  isStream: () => true,
  call: speakAt,
  ignoredAt: ({ ignores }, request) => ignores.filter((name) => request[name] !== null),
  answer: (_, { request, count }) => ({
    lastFrame(cost) {
      const usage = { ...usageOfTokens(count), cost };
      return request.isEvents
        ? formatSse(null, JSON.stringify({ type: 'speech.audio.done', usage }))
        : '';
    },
  }),
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

type SpeechRoute = TaskRoute<SpeechHost>;

/** Stops an upstream that never ends: three hours of WAV. */
const audioBytesMax = 512 * 1024 * 1024;
/**
 * A client that reads too slowly pays for the whole text, whatever part of the sound it got: otherwise
 * most of it would be free. The route is not blamed.
 */
async function speakAt(route: SpeechRoute, calling: Calling<SpeechRequest>): Promise<Called<null>> {
  const { gateway, request, size, isByUnit, stream, passOn } = calling;
  const { isEvents } = request;
  const contentType = isEvents ? eventsType : speechFormats[formatAt(route, request)];
  let count: TokenCounts | null = null;
  let bytes = 0;
  let isCut = false;
  try {
    for await (const piece of speak(route, calling)) {
      const { audio = noAudio } = piece;
      bytes += audio.length;
      if (bytes > audioBytesMax) throw unreadable(`the audio is over ${audioBytesMax} bytes`);
      if (audio.length > 0) await passOn(isEvents ? deltasOf(audio) : [audio], contentType);
      if (piece.count) ({ count } = piece);
    }
    if (bytes === 0) throw unreadable('the answer has no audio');
  } catch (error) {
    isCut = stream.isReadSlowly && !gateway.runs.isEnding;
    if (!(error instanceof UpstreamBroken && isCut)) throw error;
    count = null;
  }
  if (isByUnit || !count?.outputTokens)
    return { made: null, count: size.likely, isEstimate: !isByUnit, isCut };
  const { inputTokens: likely = 0 } = size.likely;
  const { inputTokens, outputTokens } = count;
  const whole = { inputTokens: inputTokens || likely, outputTokens };
  return { made: null, count: whole, isEstimate: inputTokens === 0, isCut };
}

const noAudio = Buffer.alloc(0);

function formatAt({ chosen, host }: SpeechRoute, request: SpeechRequest) {
  const format = request.format ?? host.formats[0]!;
  return chosen.isSandbox ? sandboxFormatOf(format) : format;
}

/** Throws UpstreamBroken. */
async function* speak(
  route: SpeechRoute,
  { gateway: { clock }, request, isByUnit, sending }: Calling<SpeechRequest>,
): AsyncGenerator<SpeechPiece> {
  const { chosen, host } = route;
  const { input, voice, instructions, speed } = request;
  const format = formatAt(route, request);
  const { signal } = sending;
  if (chosen.isSandbox) return yield* speakInSandbox({ input, format, signal, clock });
  const { upstreamModel, provider } = chosen;
  const said = { input, voice, instructions, format, speed };
  const job = { upstreamModel, place: provider.place, isByTokens: !isByUnit, ...said };
  const { answer, ...call } = host.write(job);
  if (answer === 'bytes') {
    for await (const audio of await openTask(sending, { ...call, answer }))
      yield { audio: Buffer.from(audio) };
    return;
  }
  const bodies =
    answer === 'json'
      ? [(await sendTask(sending, call)).body]
      : readJsonEvents(await openTask(sending, { ...call, answer }));
  for await (const body of bodies) {
    const piece = host.read(body, job);
    if (!piece) throw unreadable('the audio cannot be read');
    yield piece;
    if (piece.count !== undefined) return;
  }
  throw new UpstreamBroken(brokenStream('the stream ended early'));
}

/** Whole groups of three bytes, so that the pieces of base64 can be joined. */
const deltaBytes = 48 * 1024;

function* deltasOf(audio: Buffer): Generator<Buffer> {
  for (let start = 0; start < audio.length; start += deltaBytes) {
    const piece = audio.subarray(start, start + deltaBytes).toString('base64');
    yield Buffer.from(
      formatSse(null, JSON.stringify({ type: 'speech.audio.delta', audio: piece })),
    );
  }
}
