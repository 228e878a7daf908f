// The codes of an authenticator app. https://www.rfc-editor.org/rfc/rfc6238
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { DashboardClient } from './dashboard.ts';
import { jsonOf, ok } from './http.ts';

const periodMs = 30_000;

/** The server accepts the codes of this half minute and of the ones before and after, each once. */
export class Authenticator {
  readonly #secret: string;
  #period = 0;

  /** `secret`: as in an `otpauth://` address. */
  constructor(secret: string) {
    this.#secret = secret;
  }

  /**
   * Returns a new code that works for half a minute. There are two: for this half minute and for
   * the next.
   */
  nextCode(): string {
    const current = Math.floor(Date.now() / periodMs);
    this.#period = Math.max(this.#period + 1, current);
    assert.ok(
      this.#period <= current + 1,
      'a third code would have to be waited for: use a backup code',
    );
    return totpCode(this.#secret, this.#period);
  }
}

/**
 * Switches on the second factor of a signed-in user. `code`: the one that did it. Backup codes
 * replace the app's codes, of which there are two.
 */
export async function enrol(user: DashboardClient, password: string) {
  const started = await jsonOf<{ secret: string; uri: string; backup_codes: readonly string[] }>(
    user.post('/profile/second-factor', { password }),
  );
  const { secret, uri, backup_codes: backupCodes } = started;
  const app = new Authenticator(secret);
  const code = app.nextCode();
  await ok(user.post('/profile/second-factor/confirm', { code }));
  return { app, code, secret, uri, backupCodes };
}

function totpCode(secret: string, period: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(period));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = digest.at(-1)! & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

function fromBase32(text: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = Array.from(text.replace(/=+$/, ''), (character) =>
    alphabet.indexOf(character).toString(2).padStart(5, '0'),
  ).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
