// Features that a request asks for and its upstream lacks. The gateway applies them to the answer
// itself.

export type Emulated = {
  /** The sequences to search for. Left out: none. */
  readonly stopSequences?: readonly string[];
  /** JSON mode. */
  readonly jsonObject?: true;
  /** The schema of the answer is that of a field. */
  readonly wrapped?: true;
  /** A prompt is asked as a message. */
  readonly prompt?: true;
  /** The beginning of the answer, which the client has and the host sends again. Left out: it does not. */
  readonly echo?: string;
};

/** Returns the emulated fields, by Chat's names. */
export function emulatedFields({ stopSequences, jsonObject, wrapped, prompt }: Emulated): string[] {
  return [
    ...(prompt ? ['prompt'] : []),
    ...(stopSequences ? ['stop'] : []),
    ...(jsonObject || wrapped ? ['response_format'] : []),
  ];
}
