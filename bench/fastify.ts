// Fastify with as many hooks as the gateway has, and nothing in them: it reads each request to its
// end and sends the same answers as `bare.ts`. What a gateway on Fastify costs at least.
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { readFixedAnswers } from './fixed-answers.ts';

const app = Fastify({ keepAliveTimeout: 300_000, routerOptions: { ignoreTrailingSlash: true } });
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
for (let hooks = 0; hooks < 4; hooks++)
  app.addHook('onRequest', (_request, _reply, next) => next());
app.addHook('onRequest', async () => {});
for (const [url, { headers, body }] of readFixedAnswers(process.argv[2]!)) {
  app.post(url, { onRequest: [(_request, _reply, next) => next()] }, async (_request, reply) =>
    reply.headers(headers).send(body),
  );
}
await app.listen({ port: 0, host: '127.0.0.1' });
console.log((app.server.address() as AddressInfo).port);
