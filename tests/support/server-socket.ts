// The server's socket of a connection to this process. It shows when the server closes, which a
// client that does not read cannot see. Import this before the first request.
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const accepted: Socket[] = [];
subscribe('net.server.socket', (message) => {
  accepted.push((message as { readonly socket: Socket }).socket);
});

export function serverSocketOf(client: Socket): Socket {
  const isServerSide = ({ localPort, remotePort }: Socket) =>
    localPort === client.remotePort && remotePort === client.localPort;
  const found = accepted.findLast(isServerSide);
  assert.ok(found, 'no server of this process has accepted the connection');
  return found;
}
