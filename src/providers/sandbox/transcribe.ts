// The sandbox as a transcriber: it hears how long the audio is, and no more.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { numberReader, readDirectiveLines } from './directive-lines.ts';
import { failureWithStatus, refusal } from './failures.ts';

type SandboxAudio = {
  /** Has the directives. */
  readonly prompt: string;
  /** Whole seconds. */
  readonly seconds: number;
  readonly isByTokens: boolean;
  readonly signal: AbortSignal;
  readonly clock: Clock;
};

type SandboxTranscript =
  | { readonly kind: 'answer'; readonly body: JsonObject }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

export async function transcribeInSandbox(audio: SandboxAudio): Promise<SandboxTranscript> {
  const { prompt, seconds, isByTokens, signal, clock } = audio;
  const read = readDirectiveLines(prompt, {
    none: { delayMs: 0, status: null as number | null },
    readers: {
      delay_ms: numberReader('delayMs', 0, 600_000),
      status: numberReader('status', 400, 599),
    },
  });
  if (read.kind === 'malformed') return { kind: 'failure', failure: refusal(read.message) };
  const { delayMs, status } = read.directives;
  if (delayMs > 0) await clock.sleep(delayMs, signal);
  if (status !== null) return { kind: 'failure', failure: failureWithStatus(status) };
  const text = `The sandbox heard ${seconds} seconds of audio.`;
  const tokens = { input_tokens: 10 * seconds, output_tokens: 10 };
  return {
    kind: 'answer',
    body: {
      task: 'transcribe',
      language: 'english',
      duration: seconds,
      text,
      segments: [{ id: 0, start: 0, end: seconds, text }],
      usage: isByTokens ? { type: 'tokens', ...tokens } : { type: 'duration', seconds },
    },
  };
}
