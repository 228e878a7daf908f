// Id of a user's action, so that the gateway runs it once however often it is sent. Works over
// plain
// http too, where `crypto.randomUUID` is missing.
export function newIdempotencyId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
