// The place that a passkey belongs to: browsers use it at this origin only, and show the name.
import { isIP } from 'node:net';

export type PasskeyPlace = {
  readonly origin: string;
  /** WebAuthn's RP ID: the host name, without a port. */
  readonly rpId: string;
};

/**
 * Returns null when browsers refuse passkeys at this address. They need https or this machine, and
 * a host name instead of an IP address. https://www.w3.org/TR/webauthn-3/#rp-id
 */
export function passkeyPlaceOf(publicUrl: string): PasskeyPlace | null {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol !== 'https:' && !isLocal) return null;
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return null;
  return { origin, rpId: hostname };
}
