// An authenticator for passkeys in software, with every fault that a real one does not have.
// https://www.w3.org/TR/webauthn-3/
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

type CreationOptions = {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
};

type RequestOptions = { readonly challenge: string; readonly rpId: string };

/** Wrong values to put into the answer. */
export type Lies = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly isVerified?: boolean;
  readonly isPresent?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | null;
  readonly credentialId?: string;
  /** Signs with another key. */
  readonly key?: KeyObject;
  readonly crossOrigin?: boolean;
  readonly format?: string;
  readonly statement?: Buffer;
};

export class PasskeyDevice {
  readonly #origin: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly credentialId = randomBytes(32).toString('base64url');
  #userHandle = '';
  /** 0: the device does not count, as passkeys that are synchronised. */
  counter: number;

  /** `origin`: of the page that the browser believes to be on. */
  constructor(origin: string, { counter = 0 } = {}) {
    this.#origin = origin;
    this.counter = counter;
  }

  get key(): KeyObject {
    return this.#keys.privateKey;
  }

  create({ challenge, rp, user }: CreationOptions, lies: Lies = {}) {
    this.#userHandle = user.id;
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' });
    const coordinates = [x!, y!].map((text) => Buffer.from(text, 'base64url'));
    const cose = Buffer.concat([
      // { 1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y }
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      coordinates[0]!,
      Buffer.from([0x22, 0x58, 0x20]),
      coordinates[1]!,
    ]);
    const credentialId = Buffer.from(lies.credentialId ?? this.credentialId, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(credentialId.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, cose]);
    const data = Buffer.concat([this.#dataOf(rp.id, lies, 0x40), attested]);
    const dataLength = Buffer.alloc(2);
    dataLength.writeUInt16BE(data.length);
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      textOf('fmt'),
      textOf(lies.format ?? 'none'),
      textOf('attStmt'),
      lies.statement ?? Buffer.from([0xa0]),
      textOf('authData'),
      Buffer.from([0x59]),
      dataLength,
      data,
    ]);
    const id = lies.credentialId ?? this.credentialId;
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.#clientData('webauthn.create', challenge, lies).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  get({ challenge, rpId }: RequestOptions, lies: Lies = {}) {
    if (this.counter > 0) this.counter += 1;
    const data = this.#dataOf(rpId, lies, 0);
    const clientData = this.#clientData('webauthn.get', challenge, lies);
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()]);
    const id = lies.credentialId ?? this.credentialId;
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, lies.key ?? this.#keys.privateKey).toString('base64url'),
        userHandle: lies.userHandle === undefined ? this.#userHandle : lies.userHandle,
      },
    };
  }

  #dataOf(
    rpId: string,
    { rpId: other, isPresent = true, isVerified = true, counter }: Lies,
    flags: number,
  ): Buffer {
    const rest = Buffer.alloc(5);
    rest[0] = flags | (isPresent ? 1 : 0) | (isVerified ? 4 : 0);
    rest.writeUInt32BE(counter ?? this.counter, 1);
    return Buffer.concat([
      createHash('sha256')
        .update(other ?? rpId)
        .digest(),
      rest,
    ]);
  }

  #clientData(type: string, challenge: string, lies: Lies): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? this.#origin,
        crossOrigin: lies.crossOrigin ?? false,
      }),
    );
  }
}

/** A short CBOR text. */
function textOf(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}
