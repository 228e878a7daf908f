// The URLs under which clients reach the gateway.
import type { AddressInfo } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The URL of a listening server, as a client on the same machine reaches it. */
export function urlOf({ server }: Pick<FastifyInstance, 'server'>): string {
  const { address, port } = server.address() as AddressInfo;
  const reachable = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** The public URL, or the address that this request was sent to. Without a slash at its end. */
export function baseUrlOf(
  publicUrl: string | null,
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
): string {
  return publicUrl ?? `${protocol}://${host}`;
}
