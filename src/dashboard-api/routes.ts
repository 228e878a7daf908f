// Registers every URL of the dashboard's API.
import type { FastifyInstance } from 'fastify';
import type { MemoryWait } from '../server/middleware/wait-for-memory.ts';
import type { DashboardContext } from './context.ts';
import { addEndpoints } from './dispatch.ts';
import { addStreams } from './streams.ts';

export function addDashboardApi(
  app: FastifyInstance,
  context: DashboardContext,
  memoryWait: MemoryWait,
): void {
  app.decorateRequest('caller', null);
  addEndpoints(app, context);
  addStreams(app, context, memoryWait);
}
