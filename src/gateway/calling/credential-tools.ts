// What credentials use to fetch their tokens: calls like those of a provider, bounded and without
// redirects.
import { readFile } from 'node:fs/promises';
import { parseJson } from '../../lib/json.ts';
import type { Clock } from '../../lib/clock.ts';
import { CredentialError, type CredentialTools } from '../../providers/credential.ts';
import type { Upstreams } from './upstreams.ts';

/** A token's service answers at once, or not at all. */
const timeouts = {
  connect_ms: 5_000,
  first_byte_ms: 10_000,
  idle_ms: 10_000,
  total_ms: 15_000,
} as const;
const answerBytesMax = 1024 * 1024;
const neverAborted = new AbortController().signal;

/** `name`: the provider's. */
export function credentialTools(
  name: string,
  { upstreams, clock }: { readonly upstreams: Pick<Upstreams, 'send'>; readonly clock: Clock },
): CredentialTools {
  return {
    clock,
    env: process.env,
    readFile: (path) => readFile(path, 'utf8'),
    async send({ method, url, headers, body }) {
      const { origin, pathname, search } = new URL(url);
      const reply = await upstreams.send({
        provider: { name: `${name} (token)`, baseUrl: origin },
        method,
        path: pathname + search,
        headers,
        body,
        answer: 'bytes',
        stream: false,
        timeouts,
        signal: neverAborted,
        answerBytesMax,
      });
      if (reply.kind === 'answer') return { status: 200, body: textOrJson(reply.body as Buffer) };
      const { failure } = reply;
      if (failure.status !== null) return { status: failure.status, body: reply.body };
      throw new CredentialError(`${origin} gave no token: ${failure.message}`, {
        isRefused: false,
      });
    },
  };
}

function textOrJson(bytes: Buffer): unknown {
  const parsed = parseJson(bytes);
  return parsed.ok ? parsed.value : bytes.toString('utf8');
}
