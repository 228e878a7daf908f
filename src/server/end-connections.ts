// The last of a server's connections, when it closes.
import type { FastifyInstance } from 'fastify';

const sweepMs = 20;

/** Waits for `closed`, but no longer than this. A connection that falls idle after the server has begun to close would stay open until its client gives it up. */
export async function endConnections(
  { server }: Pick<FastifyInstance, 'server'>,
  closed: PromiseLike<unknown>,
  withinMs: number,
): Promise<void> {
  const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
  await Promise.race([closed, afterMs(withinMs)]);
  clearInterval(sweep);
}

function afterMs(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
