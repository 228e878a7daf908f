// Server-sent events, both directions. The parser gives the same events however the bytes are split.

export type SseEvent = {
  /** The `event:` line; '' when there was none. */
  readonly event: string;
  /** The `data:` lines joined with a newline. */
  readonly data: string;
};
