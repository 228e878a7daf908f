// Signatures of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks
import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

export function newSigningSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

type SignedMessage = {
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: string;
};

/** Returns one part of `webhook-signature`. `secret`: `whsec_` and base64. */
export function signatureOf(secret: string, { id, timestamp, body }: SignedMessage): string {
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
