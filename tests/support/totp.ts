// What an authenticator app shows. https://www.rfc-editor.org/rfc/rfc6238
import { createHmac } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

const periodMs = 30_000;
/** How long a code is still taken after it was shown, at least. */
const validMs = 10_000;

/** Taken are the codes of this half minute and of both beside it, each once. */
export class Authenticator {
  readonly #secret: string;
  #period = 0;

  /** `secret`: as an `otpauth://` address has it. */
  constructor(secret: string) {
    this.#secret = secret;
  }

  /** A code that was not shown before and that outlasts the request that carries it. */
  async nextCode(): Promise<string> {
    const oldest = Math.floor((Date.now() - 2 * periodMs + validMs) / periodMs) + 1;
    this.#period = Math.max(this.#period + 1, oldest);
    const untilMs = (this.#period - 1) * periodMs - Date.now();
    if (untilMs > 0) await setTimeout(untilMs);
    return totpCode(this.#secret, this.#period);
  }
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
  const bits = Array.from(text.replace(/=+$/, ''), (character) => alphabet.indexOf(character).toString(2).padStart(5, '0')).join(
    '',
  );
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
