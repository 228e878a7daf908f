// A load balancer for tests, no more forgiving than common ones. It sends requests to replicas
// whose `/readyz` is ready, over keep-alive connections. It retries on another replica only when
// the first did not accept the request: no connection, or a 503 from a gateway that shuts down.
//
//   const balancer = await startBalancer(t, replicas);
//   … send(`${balancer.url}/v1/…`) …
//   assert.equal(balancer.brokenOff(), 0);
import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { send } from './http.ts';

/** The address may change on a restart. */
export type Replica = { readonly url: string };

export type Balancer = Replica & {
  /** Requests retried on another replica after one refused them. */
  readonly sentAgain: () => number;
  /** Requests that a replica accepted but did not answer completely. They must not be retried. */
  readonly brokenOff: () => number;
  /** Waits until every replica, or this many, are ready. */
  readonly hasReady: (count: number) => Promise<void>;
};

const checkMs = 50;

export async function startBalancer(
  t: TestContext,
  replicas: readonly Replica[],
): Promise<Balancer> {
  const ready = new Set<Replica>();
  const counts = { turn: 0, sentAgain: 0, brokenOff: 0 };
  const agent = new Agent({ keepAlive: true });
  const check = setInterval(
    () => replicas.forEach((replica) => void checkReadiness(replica, ready)),
    checkMs,
  );
  const balance = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat((await incoming.toArray()) as Buffer[]);
    for (let tries = 0; tries < 100; tries++) {
      const candidates = replicas.filter((replica) => ready.has(replica));
      const replica = candidates[counts.turn++ % candidates.length];
      const outcome = replica
        ? await forward({ replica, incoming, body, response, agent })
        : 'refused';
      if (outcome === 'answered') return;
      if (outcome === 'broken-off') {
        counts.brokenOff += 1;
        response.destroy();
        return;
      }
      counts.sentAgain += 1;
      await setTimeout(checkMs / 2);
    }
    response.writeHead(502).end();
  };
  // The client left before its request arrived: there is nobody to answer.
  const server = createServer(
    (incoming, response) => void balance(incoming, response).catch(() => response.destroy()),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    clearInterval(check);
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sentAgain: () => counts.sentAgain,
    brokenOff: () => counts.brokenOff,
    hasReady: async (count) => {
      while (ready.size !== count) await setTimeout(checkMs / 5);
    },
  };
}

async function checkReadiness(replica: Replica, ready: Set<Replica>): Promise<void> {
  const { url } = replica;
  const status = await send(`${url}/readyz`).then(
    (reply) => reply.status,
    () => 0,
  );
  // A late answer may come from the previous process.
  if (status === 200 && replica.url === url) ready.add(replica);
  else ready.delete(replica);
}

type Forwarded = {
  readonly replica: Replica;
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  readonly response: ServerResponse;
  readonly agent: Agent;
};

type Outcome = 'answered' | 'refused' | 'broken-off';

async function forward({ replica, incoming, body, response, agent }: Forwarded): Promise<Outcome> {
  const { connection: _, 'transfer-encoding': __, ...headers } = incoming.headers;
  const upstream = httpRequest(replica.url + incoming.url!, {
    method: incoming.method,
    headers,
    agent,
  });
  // A replica killed while it answers cuts the answer off, which is handled below, and then fails
  // the request a second time.
  upstream.on('error', () => {});
  upstream.end(body);
  try {
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    if (answer.statusCode === 503) {
      const text = Buffer.concat((await answer.toArray()) as Buffer[]).toString();
      if (text.includes('shutting down')) return 'refused';
      response.writeHead(503).end(text);
      return 'answered';
    }
    const { connection: ___, ...kept } = answer.headers;
    response.writeHead(answer.statusCode!, kept);
    for await (const piece of answer) response.write(piece);
    response.addTrailers(answer.trailers);
    response.end();
    return 'answered';
  } catch (error) {
    const isRefused = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
    return isRefused ? 'refused' : 'broken-off';
  }
}
