// The bench's bare relay: no keys, no parsing, no books. The others are compared with it.
import { join } from 'node:path';
import { startChild } from '../child.ts';
import { chatRequest } from '../side-by-side/requests.ts';
import type { Peer } from '../side-by-side/peer.ts';
import { upstreamPath } from '../workloads.ts';

export const relay: Peer = {
  name: 'relay',
  features: { auth: 'none', billing: 'none', log: 'none' },
  telemetry: 'none',
  install: () => `Node ${process.versions.node}`,
  open: async ({ upstreamPort, upstreamKey }) => ({
    start: () =>
      startChild({
        script: join(import.meta.dirname, '..', 'relay.ts'),
        scriptArguments: [`http://127.0.0.1:${upstreamPort}`],
        core: 'contestant',
      }),
    requestFor: (play) =>
      chatRequest(play, { model: 'upstream-model', path: upstreamPath(play, 'chat') }),
    key: upstreamKey,
    readBook: null,
  }),
};
