// Names what somebody means to do, so that it is done once however often it is sent. Also over plain http, where there is no randomUUID.
export function newRequestId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
