// Signatures of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks
import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

export function newSigningSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

export type SignedMessage = {
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: string;
};

/** Returns `webhook-signature`: one signature for each secret, which are `whsec_` and base64. */
export function signatureOf(
  secrets: readonly string[],
  { id, timestamp, body }: SignedMessage,
): string {
  return secrets
    .map((secret) => Buffer.from(secret.slice(prefix.length), 'base64'))
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ');
}
