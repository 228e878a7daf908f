// The sandbox as a transcriber: it hears how long the audio is, and no more.
import type { JsonObject } from '../../lib/json.ts';
import { followDirectives, type Playing } from './task-directives.ts';

type SandboxAudio = Playing & {
  /** Has the directives. */
  readonly prompt: string;
  /** Whole seconds. */
  readonly seconds: number;
  readonly isByTokens: boolean;
};

/** Returns the answer as a host writes it. Throws UpstreamBroken. */
export async function transcribeInSandbox(audio: SandboxAudio): Promise<JsonObject> {
  const { prompt, seconds, isByTokens } = audio;
  await followDirectives(prompt, audio);
  const text = `The sandbox heard ${seconds} seconds of audio.`;
  const tokens = { input_tokens: 10 * seconds, output_tokens: 10 };
  return {
    task: 'transcribe',
    language: 'english',
    duration: seconds,
    text,
    segments: [{ id: 0, start: 0, end: seconds, text, speaker: 'A' }],
    usage: isByTokens ? { type: 'tokens', ...tokens } : { type: 'duration', seconds },
  };
}
