// Sends a request to the gateway's own server over a connection in memory. So a request that came
// in a WebSocket's frame takes the same path as any other: hooks, key, limits, records and drain.
import type { ClientRequest, IncomingMessage, Server } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { request } from '../../lib/node-http.ts';

/** Headers of the connection, the body or one request, which must not count for all. */
const ownHeaders = new Set(
  (
    'connection upgrade keep-alive proxy-connection transfer-encoding te trailer expect cookie ' +
    'content-length content-type content-encoding idempotency-key'
  ).split(' '),
);

/**
 * Posts JSON to the address of an earlier request, with its headers and as its client. The result is
 * destroyed to leave: the server then sees a client that has gone.
 */
export function postInMemory(server: Server, from: IncomingMessage, body: Buffer): ClientRequest {
  const [clientSide, serverSide] = duplexPair();
  clientSide.once('close', () => serverSide.destroy());
  serverSide.once('close', () => clientSide.destroy());
  server.emit('connection', asSocket(serverSide, from.socket.remoteAddress));
  const kept = Object.entries(from.headers).filter(
    ([name]) => !ownHeaders.has(name) && !name.startsWith('sec-websocket-'),
  );
  const own = { 'content-type': 'application/json', 'content-length': body.length };
  const posted = request({
    method: 'POST',
    path: from.url!,
    headers: { ...Object.fromEntries(kept), ...own },
    createConnection: () => clientSide,
  });
  posted.end(body);
  return posted;
}

/**
 * Adds what the server uses of a socket. Nothing waits for a network here: the WebSocket has
 * timeouts of its own.
 */
function asSocket(side: Duplex, remoteAddress: string | undefined): Duplex {
  return Object.assign(side, {
    remoteAddress,
    setTimeout: () => side,
    destroySoon: () => side.end(),
  });
}
