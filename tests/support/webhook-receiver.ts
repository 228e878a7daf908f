// A receiver of webhooks, which checks signatures as docs/webhooks.md tells customers to.
import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Hooks } from './file-hooks.ts';
import { answerJson, type Script, startUpstream } from './upstream.ts';

type Message = {
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly signature: string;
  readonly text: string;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: unknown };
};

export type WebhookReceiver = {
  readonly url: string;
  readonly host: string;
  readonly messages: () => readonly Message[];
  /** The messages of a type. */
  readonly of: (type: string) => readonly Message[];
  /** Answers the next messages so; the last answer repeats. */
  readonly answer: (...scripts: [Script, ...Script[]]) => void;
  readonly close: () => Promise<void>;
};

export async function startWebhookReceiver(t?: Hooks): Promise<WebhookReceiver> {
  const upstream = await startUpstream(t);
  const answer: WebhookReceiver['answer'] = (...scripts) => upstream.on('/hook', ...scripts);
  answer(answerJson({}));
  const messages = () =>
    upstream.requests.map(({ headers, text, body }) => ({
      id: String(headers['webhook-id']),
      timestamp: Number(headers['webhook-timestamp']),
      signature: String(headers['webhook-signature']),
      text,
      body: body as Message['body'],
    }));
  return {
    url: `${upstream.url}/hook`,
    host: new URL(upstream.url).host,
    messages,
    of: (type) => messages().filter(({ body }) => body.type === type),
    answer,
    close: upstream.close,
  };
}

type Signed = Pick<Message, 'id' | 'timestamp' | 'signature' | 'text'>;

/** True when one of the signatures is the secret's. */
export function isSigned({ id, timestamp, signature, text }: Signed, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest();
  return signature.split(' ').some((one) => {
    const [version, value = ''] = one.split(',');
    const given = Buffer.from(value, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

export function assertSigned(message: Signed, secret: string, nowMs: number): void {
  assert.ok(isSigned(message, secret), 'the signature is not the secret’s');
  assert.ok(Math.abs(nowMs / 1_000 - message.timestamp) < 300, 'the message is too old');
}
