// The hosts of the made-up endpoint: two that a test plays, and the sandbox.
import { readErrorMessage } from '../../../src/formats/error-message.ts';
import type { UpstreamFailure } from '../../../src/canonical/event.ts';
import type { Callable } from '../../../src/gateway/calling/call-route.ts';
import type { Upstreams } from '../../../src/gateway/calling/upstreams.ts';
import type { TraceContext } from '../../../src/lib/trace-context.ts';

export type Shouted =
  | { readonly kind: 'shouted'; readonly text: string; readonly failure?: never }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

/** A test says where they are. */
export const hosts = { live: [] as Callable[], test: [hostOf('sandbox', null)] };

export function hostOf(provider: string, baseUrl: string | null): Callable {
  return { route: { provider, upstreamModel: 'shout' }, baseUrl };
}

export async function shout(
  { route: { provider }, baseUrl }: Callable,
  text: string,
  call: {
    readonly upstreams: Upstreams;
    readonly trace: TraceContext | null;
    readonly signal: AbortSignal;
  },
): Promise<Shouted> {
  if (baseUrl === null) return { kind: 'shouted', text: text.toUpperCase() };
  const reply = await call.upstreams.send({
    provider: { name: provider, baseUrl },
    path: '/shout',
    headers: {},
    body: JSON.stringify({ text }),
    stream: false,
    timeouts: { connect_ms: 5_000, first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 5_000 },
    trace: call.trace,
    signal: call.signal,
  });
  if (reply.kind === 'answer')
    return { kind: 'shouted', text: (reply.body as { readonly text: string }).text };
  const message = readErrorMessage(reply.body) ?? reply.failure.message;
  return { kind: 'failure', failure: { ...reply.failure, message } };
}
