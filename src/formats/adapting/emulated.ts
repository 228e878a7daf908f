// Features that a request asks for and its upstream lacks. The gateway applies them to the answer
// itself.
import type { Answer } from '../../canonical/answer.ts';
import { withoutEcho } from './drop-echo.ts';
import { keepObjectOf } from './json-object.ts';
import { cutAnswer } from './stop-cut.ts';

export type Emulated = {
  /** The sequences to search for. Left out: none. */
  readonly stopSequences?: readonly string[];
  /** JSON mode. */
  readonly jsonObject?: true;
  /** A prompt is asked as a message. */
  readonly prompt?: true;
  /** The beginning of the answer, which the client has and the host sends again. Left out: it does not. */
  readonly echo?: string;
};

/** Returns the emulated fields, by Chat's names. */
export function emulatedFields({ stopSequences, jsonObject, prompt }: Emulated): string[] {
  return [
    ...(prompt ? ['prompt'] : []),
    ...(stopSequences ? ['stop'] : []),
    ...(jsonObject ? ['response_format'] : []),
  ];
}

/**
 * Applies the features to a whole answer. The result equals what a streaming client would have
 * collected.
 */
export function emulateAnswer(answer: Answer, emulated: Emulated): Answer {
  const { stopSequences, jsonObject, echo } = emulated;
  const added = echo === undefined ? answer : withoutEcho(answer, echo);
  const cut = stopSequences ? cutAnswer(added, stopSequences) : added;
  return jsonObject ? keepObjectOf(cut) : cut;
}
