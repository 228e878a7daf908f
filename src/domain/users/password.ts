// Password hashing with argon2id. Parameters and salt are part of the hash, so that the parameters
// can be raised later.
import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto';
import { promisify } from 'node:util';
import { withoutTrailing } from '../../lib/without-trailing.ts';

export const passwordCharactersMin = 10;
export const passwordCharactersMax = 256;

/** https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#argon2id */
const parameters = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const saltBytes = 16;
const tagBytes = 32;
/** Each hash takes 19 MiB and one of the four threads that files and name lookups also need. */
const runningMax = 2;
const waitingMax = 200;

const derive = promisify(argon2);

/** Thrown when too many passwords already wait to be checked. */
export class PasswordsBusy extends Error {
  constructor() {
    super('too many passwords are being checked');
  }
}

/**
 * Returns `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`, the standard encoding. Throws
 * PasswordsBusy.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const tag = await tagOf(password, { ...parameters, salt, tagBytes });
  const { memory, passes, parallelism } = parameters;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/**
 * Returns true when the password matches; false for a text that is not a hash. Throws
 * PasswordsBusy.
 */
export async function verifyPassword({
  hash,
  password,
}: {
  readonly hash: string;
  readonly password: string;
}): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash);
  if (!match) return false;
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number) as [number, number, number];
  const expected = Buffer.from(match[5]!, 'base64');
  const salt = Buffer.from(match[4]!, 'base64');
  const tag = await tagOf(password, {
    memory,
    passes,
    parallelism,
    salt,
    tagBytes: expected.length,
  });
  return tag.length === expected.length && timingSafeEqual(tag, expected);
}

type Derivation = {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly salt: Buffer;
  readonly tagBytes: number;
};

async function tagOf(
  password: string,
  { salt, tagBytes: tagLength, ...cost }: Derivation,
): Promise<Buffer> {
  // Another keyboard may send the same text as other code points.
  // https://www.rfc-editor.org/rfc/rfc8265#section-4.2.2
  const message = Buffer.from(password.normalize('NFC'), 'utf8');
  const settings: Argon2Parameters = { message, nonce: salt, tagLength, ...cost };
  return inTurn(() => derive('argon2id', settings));
}

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running < runningMax) running += 1;
  else {
    if (waiting.length >= waitingMax) throw new PasswordsBusy();
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

function unpadded(bytes: Buffer): string {
  return withoutTrailing(bytes.toString('base64'), '=');
}
