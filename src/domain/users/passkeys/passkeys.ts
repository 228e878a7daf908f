// Adds passkeys, and signs in with them (WebAuthn). An authenticator signs our challenge after it
// has checked the user's finger, face or PIN, so a passkey is both factors. The library checks what
// it returns; it is loaded with the first passkey.
import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import { challengeLifetimeMs, Challenges, useChallenge } from './challenges.ts';
import { passkeyPlaceOf, type PasskeyPlace } from './place.ts';
import { findPasskey, listPasskeys, usePasskey, type NewPasskey } from './records.ts';

/** The answer of `navigator.credentials.create()` as JSON, in base64url. */
export type CreatedCredential = {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[];
  };
};

/** The answer of `navigator.credentials.get()` as JSON, in base64url. */
export type SignedCredential = {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    /** The id of the user, in base64url. */
    readonly userHandle?: string | null;
  };
};

/**
 * Why an answer is refused. `over`: its challenge is not ours, is for another browser or session,
 * has expired or was answered before. `elsewhere`: it is for another address.
 */
export type PasskeyRefusal = 'over' | 'elsewhere' | 'unverified' | 'unknown' | 'copied' | 'invalid';

type PasskeysInput = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly publicUrl: () => string;
  readonly serviceName: string;
  readonly clock: Clock;
};

/** ES256, EdDSA and RS256: all that authenticators in use know. */
const algorithms = [-7, -8, -257];

export class Passkeys {
  readonly #input: PasskeysInput;
  readonly #challenges: Challenges;

  constructor(input: PasskeysInput) {
    this.#input = input;
    this.#challenges = new Challenges(input.secrets);
  }

  /** null: browsers refuse passkeys at the gateway's address. */
  get place(): PasskeyPlace | null {
    return passkeyPlaceOf(this.#input.publicUrl());
  }

  /** Returns the options for `navigator.credentials.create()`. */
  async startAdding(
    place: PasskeyPlace,
    {
      sessionId,
      ...user
    }: {
      readonly userId: string;
      readonly email: string;
      readonly name: string;
      readonly sessionId: string;
    },
  ) {
    const { database, serviceName, clock } = this.#input;
    const passkeys = await listPasskeys(database.read, user.userId);
    return {
      challenge: this.#challenges.make(addingIn(sessionId), clock.nowMs()),
      rp: { id: place.rpId, name: serviceName },
      user: {
        id: Buffer.from(user.userId).toString('base64url'),
        name: user.email,
        displayName: user.name,
      },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key' as const, alg })),
      timeout: challengeLifetimeMs,
      excludeCredentials: passkeys.map(({ credentialId, transports }) => ({
        type: 'public-key' as const,
        id: credentialId,
        transports: [...transports],
      })),
      authenticatorSelection: {
        residentKey: 'required' as const,
        requireResidentKey: true,
        userVerification: 'required' as const,
      },
      attestation: 'none' as const,
    };
  }

  /**
   * Checks a new passkey. The caller uses up the challenge in the transaction of the change, by
   * `useChallenge`.
   */
  async checkNew(
    place: PasskeyPlace,
    { id, response }: CreatedCredential,
    sessionId: string,
  ): Promise<
    | { readonly kind: 'made'; readonly passkey: NewPasskey; readonly challenge: string }
    | { readonly kind: PasskeyRefusal }
  > {
    const { clientDataJSON, attestationObject, transports = [] } = response;
    const client = readClientData(clientDataJSON);
    if (client === null) return { kind: 'invalid' };
    const { challenge, origin } = client;
    if (!this.#challenges.isValid(challenge, addingIn(sessionId), this.#input.clock.nowMs()))
      return { kind: 'over' };
    if (origin !== place.origin) return { kind: 'elsewhere' };
    const [{ verifyRegistrationResponse }, helpers] = await load();
    try {
      const attestation = helpers.decodeAttestationObject(
        Buffer.from(attestationObject, 'base64url'),
      );
      // We ask for no statement about the authenticator's make. Certificates in one could make the
      // library fetch addresses that the sender chose.
      const format = attestation.get('fmt');
      const hasCertificates = attestation.get('attStmt').get('x5c') !== undefined;
      if ((format !== 'none' && format !== 'packed') || hasCertificates) return { kind: 'invalid' };
      const refusal = refusalOf(attestation.get('authData'), place);
      if (refusal !== null) return { kind: refusal };
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: { ...standard(id), response: { clientDataJSON, attestationObject } },
        ...expectationsOf(place, challenge),
        supportedAlgorithmIDs: algorithms,
      });
      if (!verified || registrationInfo.credential.id !== id) return { kind: 'invalid' };
      const { counter } = registrationInfo.credential;
      const publicKey = Buffer.from(registrationInfo.credential.publicKey).toString('base64url');
      const { rpId } = place;
      const passkey = { credentialId: id, publicKey, counter, transports, rpId };
      return { kind: 'made', passkey, challenge };
    } catch {
      // The library throws at whatever an authenticator would not send.
      return { kind: 'invalid' };
    }
  }

  /**
   * Returns the options for `navigator.credentials.get()`. `browser` is a name that only this
   * browser knows.
   */
  startSignIn(place: PasskeyPlace, browser: string) {
    return {
      challenge: this.#challenges.make(signInOf(browser), this.#input.clock.nowMs()),
      rpId: place.rpId,
      timeout: challengeLifetimeMs,
      userVerification: 'required' as const,
    };
  }

  /** Checks an answer and uses up its challenge, also when the answer is refused. */
  async checkSignIn(
    place: PasskeyPlace,
    credential: SignedCredential,
    browser: string,
  ): Promise<
    { readonly kind: 'right'; readonly userId: string } | { readonly kind: PasskeyRefusal }
  > {
    const { database, clock } = this.#input;
    const { id, response } = credential;
    const { clientDataJSON, authenticatorData, signature } = response;
    const client = readClientData(clientDataJSON);
    if (client === null) return { kind: 'invalid' };
    const { challenge, origin } = client;
    const nowMs = clock.nowMs();
    const isOpen =
      this.#challenges.isValid(challenge, signInOf(browser), nowMs) &&
      (await useChallenge(database.write, challenge, nowMs));
    if (!isOpen) return { kind: 'over' };
    const passkey = await findPasskey(database.read, id);
    if (!passkey) return { kind: 'unknown' };
    const data = Buffer.from(authenticatorData, 'base64url');
    const refusal = origin === place.origin ? refusalOf(data, place) : 'elsewhere';
    if (refusal !== null) return { kind: refusal };
    if (response.userHandle !== Buffer.from(passkey.userId).toString('base64url'))
      return { kind: 'invalid' };
    const [{ verifyAuthenticationResponse }] = await load();
    const publicKey = new Uint8Array(Buffer.from(passkey.publicKey, 'base64url'));
    const checked = await verifyAuthenticationResponse({
      response: { ...standard(id), response: { clientDataJSON, authenticatorData, signature } },
      ...expectationsOf(place, challenge),
      // `usePasskey` compares counters, once the signature is known to be right.
      credential: { id, publicKey, counter: 0 },
    }).catch(() => null);
    if (!checked?.verified) return { kind: 'invalid' };
    const counter = checked.authenticationInfo.newCounter;
    if (!(await usePasskey(database.write, { id: passkey.id, counter }, nowMs)))
      return { kind: 'copied' };
    return { kind: 'right', userId: passkey.userId };
  }
}

/** A new name for a browser, to which its challenges are bound. */
export function newBrowserName(): string {
  return randomBytes(16).toString('base64url');
}

const signInOf = (browser: string) => `sign-in ${browser}`;
const addingIn = (sessionId: string) => `add ${sessionId}`;

async function load() {
  return Promise.all([import('@simplewebauthn/server'), import('@simplewebauthn/server/helpers')]);
}

function standard(id: string) {
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const;
}

function expectationsOf({ origin, rpId }: PasskeyPlace, challenge: string) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
  };
}

function readClientData(
  text: string,
): { readonly challenge: string; readonly origin: string } | null {
  try {
    const { challenge, origin } = JSON.parse(
      Buffer.from(text, 'base64url').toString('utf8'),
    ) as Record<string, unknown>;
    return typeof challenge === 'string' && typeof origin === 'string'
      ? { challenge, origin }
      : null;
  } catch {
    return null;
  }
}

const userVerified = 0b100;

/**
 * Returns why an authenticator's data is refused, for a clear error; the library checks the same.
 * https://www.w3.org/TR/webauthn-3/#authenticator-data
 */
function refusalOf(
  authenticatorData: Uint8Array,
  { rpId }: PasskeyPlace,
): 'elsewhere' | 'unverified' | null {
  const expected = createHash('sha256').update(rpId).digest();
  if (!expected.equals(authenticatorData.subarray(0, expected.length))) return 'elsewhere';
  const flags = authenticatorData[expected.length] ?? 0;
  return (flags & userVerified) === 0 ? 'unverified' : null;
}
