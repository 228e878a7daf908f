import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Fastify from 'fastify';
import { assetsPath, DashboardFiles } from './dashboard-files.ts';

test('without a build the page says so, and files are not found', async () => {
  const files = new DashboardFiles(join(tmpdir(), 'no-such-build'), null);
  const app = Fastify();
  app.get('/', (_request, reply) => files.sendPage(reply));
  app.get(`${assetsPath}*`, files.getAsset());
  app.setErrorHandler((error, _request, reply) => reply.code(404).send(String(error)));
  const page = await app.inject('/');
  assert.equal(page.statusCode, 503);
  assert.match(page.body, /The dashboard is not built/);
  assert.equal((await app.inject('/assets/index.js')).statusCode, 404);
});
