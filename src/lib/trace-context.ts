// W3C trace context (https://www.w3.org/TR/trace-context/): reads the client's `traceparent` and
// `tracestate`, and writes them for a call to a provider.
import { randomFillSync } from 'node:crypto';

/** A request's trace, as far as it is passed on. */
export type TraceContext = {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** The span that calls, 16 hexadecimal digits. Left out: each call gets a new id. */
  readonly spanId?: string;
  /** Two hexadecimal digits. */
  readonly flags: string;
  /** null: none was sent, or it cannot be sent on. */
  readonly state: string | null;
};

/** Later versions may add fields after the flags. Version `ff`, and ids of zeros, are invalid. */
const parentPattern =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The flags that version 00 defines: sampled, and a random trace id. */
const knownFlags = 0b11;

/** A client's trace. `callerId`: the client's own span, the parent of the request's. */
export type ClientTrace = TraceContext & { readonly callerId: string };

/** Returns null for an invalid `traceparent`: the request then counts as one without a trace. */
export function readTraceContext(
  traceparent: string,
  tracestate: string | null,
): ClientTrace | null {
  const [, version, traceId, callerId, flags, more] = parentPattern.exec(traceparent) ?? [];
  if (traceId === undefined || (version === '00' && more !== undefined)) return null;
  return {
    traceId,
    callerId: callerId!,
    flags: hex(Buffer.of(Number.parseInt(flags!, 16) & knownFlags)),
    state: tracestate !== null && sendable.test(tracestate.trim()) ? tracestate.trim() : null,
  };
}

/** Every system passes on as much as this. What it means is for others. */
const sendable = /^[\x20-\x7e]{1,512}$/;

export function traceHeaders({
  traceId,
  spanId = newSpanId(),
  flags,
  state,
}: TraceContext): Record<string, string> {
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state !== null && { tracestate: state }),
  };
}

/** Random bytes are drawn and written in bulk: ids are parts of one long text. */
const pool = Buffer.alloc(4_096);
let digits = '';
let used = 0;

/** Returns 32 hexadecimal digits, never all 0. */
export function newTraceId(): string {
  return randomDigits(32);
}

/** Returns 16 hexadecimal digits, never all 0. */
export function newSpanId(): string {
  return randomDigits(16);
}

function randomDigits(count: number): string {
  if (used + count > digits.length) {
    digits = hex(randomFillSync(pool));
    used = 0;
  }
  const text = digits.slice(used, (used += count));
  return text.startsWith('0') && /^0+$/.test(text) ? randomDigits(count) : text;
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}
