// One choice of an answer on the straight path: its message or deltas with repaired calls, and the
// finish reason that its content asks for, whatever word the host used.
import { isObject, type JsonObject, objectOf, listOf } from '../../lib/json.ts';
import type { Stop } from '../../canonical/stop.ts';
import { withPlainContent } from './content.ts';
import { isCall, StreamedCalls } from './relay-calls.ts';
import { isCutShort, readStop, writeFinishReason } from './stop.ts';

/** Collects what a choice contains, from its message or from all its deltas. */
export class ChoiceContent {
  /** The host's last finish reason; null while it has sent none. */
  reason: string | null = null;
  #hasToolCalls = false;
  #hasRefusal = false;
  #hasLegacyCall = false;

  note({ tool_calls: calls, refusal, function_call: legacyCall }: JsonObject): void {
    this.#hasToolCalls ||= listOf(calls).some(isCall);
    if (typeof refusal === 'string' && refusal !== '') this.#hasRefusal = true;
    if (isObject(legacyCall)) this.#hasLegacyCall = true;
  }

  get hasCalls(): boolean {
    return this.#hasToolCalls || this.#hasLegacyCall;
  }

  get stop(): Stop {
    return readStop(this.reason, { hasToolCalls: this.hasCalls, hasRefusal: this.#hasRefusal });
  }

  /** Returns the finish reason in OpenAI's words. */
  get finishReason(): string {
    const reason = writeFinishReason(this.stop, { hasRefusal: this.#hasRefusal });
    return reason === 'tool_calls' && !this.#hasToolCalls ? 'function_call' : reason;
  }
}

export class StreamedChoice extends ChoiceContent {
  readonly #callIdPrefix: string;
  #calls: StreamedCalls | null = null;

  constructor(idPrefix: string) {
    super();
    this.#callIdPrefix = idPrefix;
  }

  /** Returns the delta with plain content and repaired calls. A right one stays the same object. */
  read(sent: JsonObject): JsonObject {
    const delta = withPlainContent(sent);
    this.note(delta);
    const pieces = listOf(delta.tool_calls);
    if (pieces.length === 0) return delta;
    this.#calls ??= new StreamedCalls(this.#callIdPrefix);
    const repaired = this.#calls.repair(pieces);
    const isRight =
      repaired.length === pieces.length && repaired.every((piece, at) => piece === pieces[at]);
    return isRight ? delta : { ...delta, tool_calls: repaired };
  }

  /** Completes the last piece of the choice. Throws UnreadableAnswer when a call has no name. */
  end(last: JsonObject): JsonObject {
    const delta = objectOf(last.delta);
    const rest = isCutShort(this.reason) ? [] : (this.#calls?.endPieces() ?? []);
    const sent = listOf(delta.tool_calls);
    return {
      ...last,
      ...(rest.length > 0 && { delta: { ...delta, tool_calls: [...sent, ...rest] } }),
      finish_reason: this.finishReason,
    };
  }
}
