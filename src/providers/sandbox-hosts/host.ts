// The interface of simulated hosts, one for each wire format: reads the gateway's request and
// writes the host's answer.
import type { StreamEvent } from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext } from '../../formats/format.ts';
import type { Composed } from '../sandbox/compose.ts';
import type { SandboxRequest } from '../sandbox/request.ts';

export type Host = {
  /**
   * Never throws: the gateway has validated the body, and fields that the sandbox does not use are
   * skipped.
   */
  readonly readRequest: (body: JsonObject) => SandboxRequest;
  readonly writeAnswer: (answer: Composed['answer'], options: AnswerOptions) => JsonObject;
  /**
   * Called once for each stream. The returned function gives the frames of each event; the frames
   * of `finish` end the stream.
   */
  readonly writeStream: (options: AnswerOptions) => (event: StreamEvent) => string;
};

/** What the writers need besides the answer's content. */
export type AnswerOptions = {
  readonly context: AnswerContext;
  /** True when the answer reports its usage. */
  readonly hasUsage: boolean;
  /** The code that Gemini runs before the text; null: none. */
  readonly code: string | null;
};
