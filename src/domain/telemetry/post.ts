// Sends one OTLP request and says what became of it. Nothing of the answer is kept but the number
// of rejected items.
import type { Dispatcher } from 'undici';
import { Pool } from '../../lib/undici.ts';
import type { Clock } from '../../lib/clock.ts';
import { readRetryAfterSeconds } from '../../lib/retry-after.ts';
import { isObject, parseJson } from '../../lib/json.ts';

type PostTarget = { readonly url: URL; readonly headers: Readonly<Record<string, string>> };

export type Posted =
  | { readonly kind: 'taken'; readonly rejected: number }
  /** It may succeed later. `waitMs`: as long as the receiver asks to wait; null: it does not say. */
  | { readonly kind: 'later'; readonly problem: string; readonly waitMs: number | null }
  | { readonly kind: 'refused'; readonly problem: string };

export type Post = (body: string | Uint8Array) => Promise<Posted>;

const timeoutMs = 10_000;
const answerBytesMax = 64 * 1024;
/** https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const laterStatuses: readonly number[] = [429, 502, 503, 504];

/** Posts to the operator's own receiver, on connections that are kept. */
export function postTo(
  target: PostTarget,
  clock: Clock,
): { readonly post: Post; readonly close: () => Promise<void> } {
  const pool = new Pool(target.url.origin, { connections: 1, connectTimeout: timeoutMs });
  return {
    post: (body) => postOnce({ ...target, body, clock }, (post) => post(pool)),
    close: () => pool.destroy(),
  };
}

type Sending = PostTarget & { readonly body: string | Uint8Array; readonly clock: Clock };
type PostThrough = (dispatcher: Dispatcher) => Promise<Posted>;

/** Posts through the connection that `connect` finds. All of it together is limited in time. */
export async function postOnce(
  { url, headers, body, clock }: Sending,
  connect: (post: PostThrough, signal: AbortSignal) => Promise<Posted>,
): Promise<Posted> {
  const deadline = new AbortController();
  const { signal } = deadline;
  const cancel = clock.after(timeoutMs, () => deadline.abort());
  const post: PostThrough = async (dispatcher) => {
    const answer = await dispatcher.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: { 'user-agent': 'tollgate', ...headers, 'content-type': 'application/json' },
      body,
      signal,
    });
    answer.body.on('error', () => {});
    return readAnswer(answer, clock.nowMs());
  };
  try {
    return await connect(post, signal);
  } catch {
    const problem = signal.aborted
      ? `it does not answer within ${timeoutMs / 1_000} seconds`
      : 'it cannot be reached';
    return { kind: 'later', problem, waitMs: null };
  } finally {
    cancel();
  }
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  nowMs: number,
): Promise<Posted> {
  if (statusCode === 200) return { kind: 'taken', rejected: await readRejected(body) };
  body.destroy();
  const problem = `it answers with status ${statusCode}`;
  if (statusCode > 200 && statusCode < 300) return { kind: 'taken', rejected: 0 };
  if (!laterStatuses.includes(statusCode)) return { kind: 'refused', problem };
  const seconds = readRetryAfterSeconds(headers, nowMs);
  return { kind: 'later', problem, waitMs: seconds ? Math.min(seconds, 3_600) * 1_000 : null };
}

/** Returns how many items the receiver rejected although it took the rest. */
async function readRejected(body: AsyncIterable<Buffer>): Promise<number> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) return 0;
    chunks.push(chunk);
  }
  const parsed = parseJson(Buffer.concat(chunks), { depthMax: 20 });
  const partial = parsed.ok && isObject(parsed.value) ? parsed.value['partialSuccess'] : null;
  if (!isObject(partial)) return 0;
  const rejected = Number(partial['rejectedSpans'] ?? partial['rejectedDataPoints'] ?? 0);
  return rejected > 0 ? Math.ceil(rejected) : 0;
}
