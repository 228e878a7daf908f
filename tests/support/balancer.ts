// A load balancer for tests, no kinder than the usual ones: it sends to replicas whose `/readyz` says so, over connections that it keeps, and
// tries another only for what was refused before it was accepted: no connection, or a 503 of a gateway that shuts down.
//
//   const balancer = await startBalancer(t, replicas);
//   … send(`${balancer.url}/v1/…`) …
//   assert.equal(balancer.brokenOff(), 0);
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { send } from './http.ts';

/** Its address may change when it is started anew. */
export type Replica = { readonly url: string };

export type Balancer = Replica & {
  /** Requests that were sent to another replica after one had refused them. */
  readonly sentAgain: () => number;
  /** Requests that a replica had taken and did not answer to their end: nobody may send them again. */
  readonly brokenOff: () => number;
  /** Until every replica is ready, or as many as are to be. */
  readonly hasReady: (count: number) => Promise<void>;
};

const checkMs = 50;

export async function startBalancer(t: TestContext, replicas: readonly Replica[]): Promise<Balancer> {
  const ready = new Set<Replica>();
  const counts = { turn: 0, sentAgain: 0, brokenOff: 0 };
  const agent = new Agent({ keepAlive: true });
  const check = setInterval(() => replicas.forEach((replica) => void checkReadiness(replica, ready)), checkMs);
  const balance = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat((await incoming.toArray()) as Buffer[]);
    for (let tries = 0; tries < 100; tries++) {
      const candidates = replicas.filter((replica) => ready.has(replica));
      const replica = candidates[counts.turn++ % candidates.length];
      const outcome = replica ? await forward({ replica, incoming, body, response, agent }) : 'refused';
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
  // A client that leaves before its request has arrived leaves nobody to answer.
  const server = createServer((incoming, response) => void balance(incoming, response).catch(() => response.destroy()));
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
  // An answer of the process before may come late.
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
  const upstream = httpRequest(replica.url + incoming.url!, { method: incoming.method, headers, agent });
  // A replica that is killed in mid-answer ends the answer, which is seen below, and fails the request once more.
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
