// The URL of a listening server, as a client on the same machine reaches it.
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

export function urlOf({ server }: Pick<FastifyInstance, 'server'>): string {
  const { address, port } = server.address() as AddressInfo;
  const reachable = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
