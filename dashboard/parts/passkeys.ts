// Passkeys in this browser. The library is loaded with the first use.
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser';
import { api, type Output } from '../api/client.ts';
import type { SessionInfo } from '../api/session.ts';

/** Below the ten minutes for which the gateway accepts a challenge. */
const renewMs = 8 * 60_000;

/** Returns why passkeys cannot be used here, or null. */
export function passkeyObstacle({
  passkeys: isPossible,
  public_url: url,
}: SessionInfo['features']): string | null {
  if (!isPossible)
    return `Passkeys need an address with https and a host name, or localhost. This service is at ${url}. Its operator can change “server.public_url”.`;
  const { origin } = new URL(url);
  if (location.origin !== origin) return `Passkeys work only at ${origin}. Open the page there.`;
  if (!('PublicKeyCredential' in window)) return 'This browser does not support passkeys.';
  return null;
}

/** Asks the device for a new passkey. Throws an error that says what to do. */
export async function createPasskey(optionsJSON: Output<'POST /profile/passkeys/start'>) {
  const { startRegistration } = await load();
  // The library's type has mutable lists.
  return explained(
    startRegistration({ optionsJSON: optionsJSON as PublicKeyCredentialCreationOptionsJSON }),
  );
}

/** Asks for a passkey that the user chooses. Throws an error that says what to do. */
export async function askForPasskey() {
  const { startAuthentication } = await load();
  const optionsJSON = await api('POST /auth/passkey/start', {});
  return explained(startAuthentication({ optionsJSON }));
}

/** Signs in with a passkey that the user chooses. Throws an error that says what to do. */
export async function signInWithPasskey(): Promise<void> {
  await api('POST /auth/passkey', { body: { credential: await askForPasskey() } });
}

type Suggestions = {
  readonly onSignedIn: () => void;
  readonly onRefused: (error: unknown) => void;
};

/**
 * Lets the browser suggest passkeys in the field whose `autocomplete` ends with `webauthn`. Returns
 * a function that ends this.
 */
export function suggestPasskeys({ onSignedIn, onRefused }: Suggestions): () => void {
  let isOver = false;
  let cancel = () => {};
  const suggest = async (): Promise<void> => {
    const { WebAuthnAbortService, browserSupportsWebAuthnAutofill, startAuthentication } =
      await load();
    if (isOver || !(await browserSupportsWebAuthnAutofill())) return;
    cancel = () => WebAuthnAbortService.cancelCeremony();
    const optionsJSON = await api('POST /auth/passkey/start', {});
    if (isOver) return;
    const credential = await startAuthentication({ optionsJSON, useBrowserAutofill: true });
    try {
      await api('POST /auth/passkey', { body: { credential } });
      onSignedIn();
    } catch (error) {
      onRefused(error);
    }
  };
  // Nobody asked for suggestions, so nobody is told that they ended.
  const start = () => void suggest().catch(() => {});
  start();
  const timer = setInterval(start, renewMs);
  return () => {
    isOver = true;
    clearInterval(timer);
    cancel();
  };
}

const load = () => import('@simplewebauthn/browser');

const explanations: Readonly<Record<string, string>> = {
  NotAllowedError: 'You cancelled, or your device did not answer in time. Try again.',
  InvalidStateError: 'This device already has a passkey for you. It is in your list.',
  ConstraintError:
    'This device cannot check that it is you. Set up its screen lock, or use another device.',
};

async function explained<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : '';
    throw new Error(explanations[name] ?? `The device reports a problem: ${String(cause)}`, {
      cause,
    });
  }
}
