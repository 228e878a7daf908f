// The end of a connection that a server of this process has: it tells when the server closes it, which a client that does not read is
// not told. Import this before the server is asked anything.
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const accepted: Socket[] = [];
subscribe('net.server.socket', (message) => {
  accepted.push((message as { readonly socket: Socket }).socket);
});

export function otherEndOf(client: Socket): Socket {
  const isOther = ({ localPort, remotePort }: Socket) => localPort === client.remotePort && remotePort === client.localPort;
  const found = accepted.findLast(isOther);
  assert.ok(found, 'no server of this process has accepted the connection');
  return found;
}
