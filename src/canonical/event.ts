// The events of a streamed answer. Blocks never overlap: a start, its deltas, its end, then the
// next block. A citation is in its text. A stream is `start`, blocks, then one `finish` or `error`.
import type { Citation } from './citation.ts';
import type { MediaSource, Signature } from './request.ts';
import type { OwnToolEvent } from './own-tools.ts';
import type { Stop } from './stop.ts';
import type { Usage } from './usage.ts';
import type { VendorError } from './vendor-error.ts';

export type StreamEvent =
  /** `usage` is an early count of the input where the upstream gives one. */
  | { readonly type: 'start'; readonly usage: Usage | null }
  | { readonly type: 'text-start' }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'citation'; readonly citation: Citation }
  | { readonly type: 'text-end' }
  | { readonly type: 'refusal-start' }
  | { readonly type: 'refusal-delta'; readonly text: string }
  | { readonly type: 'refusal-end' }
  | { readonly type: 'thinking-start'; readonly redacted: boolean }
  | { readonly type: 'thinking-delta'; readonly text: string }
  | { readonly type: 'thinking-signature'; readonly signature: Signature }
  | { readonly type: 'thinking-end' }
  | {
      readonly type: 'tool-call-start';
      readonly id: string;
      readonly name: string;
      readonly kind: 'function' | 'custom';
    }
  /** A piece of the arguments as they come, not valid JSON by itself. */
  | { readonly type: 'tool-call-delta'; readonly text: string }
  | { readonly type: 'tool-call-end' }
  | OwnToolEvent
  | { readonly type: 'image'; readonly source: MediaSource }
  | { readonly type: 'finish'; readonly stop: Stop; readonly usage: Usage | null }
  | { readonly type: 'error'; readonly failure: UpstreamFailure };

/** `status`: of HTTP; null when there was none (connection, cut stream, unreadable body). */
export type UpstreamFailure = {
  readonly kind: 'status' | 'connection' | 'timeout' | 'broken-stream' | 'unreadable';
  readonly status: number | null;
  /** The upstream's own words, unscrubbed: for the operator, and for the client only through `toApiError`. */
  readonly message: string;
  readonly retryAfterSeconds: number | null;
  /** Unscrubbed, for clients of the same format. */
  readonly vendor?: VendorError;
  /** The model has written an answer that cannot be passed on. It is billed, and another would be too. */
  readonly isBilled?: boolean;
  /**
   * The model's own output caused the failure. A prompt can cause that on purpose, so the loss
   * counts against the account's loss budget.
   */
  readonly isCausedByAccount?: boolean;
  /** As that of `Stop`. */
  readonly brokeOff?: string | undefined;
  /** The answer was not complete when its time (`total_ms`) ended. */
  readonly isOverdue?: boolean;
  /** Stopped before anything of the answer came, because nothing more could be held for it. */
  readonly isUnaffordable?: boolean;
  /** The provider refused the account's own key for it, the provider of this name. */
  readonly ownKeyOf?: string;
  /** The provider's rules forbid the request. Some take a fee for it: `HostWishes`. */
  readonly isForbidden?: boolean;
  /** The provider's credential gave no token or signature: nothing was sent, and `message` says why. */
  readonly isUnauthorized?: boolean;
};
