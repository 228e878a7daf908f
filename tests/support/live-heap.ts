// Measures a program's heap after garbage collection, through its inspector: without a collection,
// the used heap varies more than most leaks grow. The program must run with `inspectable` in its
// environment.
import { once } from 'node:events';
import type { Program } from './program.ts';
import { until } from './until.ts';

/** Listens on its own port, opened by a signal. */
export const inspectable = { NODE_OPTIONS: '--inspect-port=0' };

export type LiveHeap = { readonly bytes: () => Promise<number>; readonly close: () => void };

export async function openLiveHeap(program: Program): Promise<LiveHeap> {
  process.kill(program.pid, 'SIGUSR1');
  const socket = new WebSocket(await inspectorUrl(program));
  await once(socket, 'open');
  let lastId = 0;
  const call = async (method: string): Promise<unknown> => {
    const id = ++lastId;
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [{ data }] = (await once(socket, 'message')) as [{ data: string }];
      const message = JSON.parse(data) as { id?: number; result?: unknown };
      if (message.id === id) return message.result;
    }
  };
  return {
    bytes: async () => {
      await call('HeapProfiler.collectGarbage');
      return ((await call('Runtime.getHeapUsage')) as { usedSize: number }).usedSize;
    },
    close: () => socket.close(),
  };
}

async function inspectorUrl(program: Program): Promise<string> {
  return until(() => /Debugger listening on (ws:\S+)/.exec(program.output)?.[1]);
}
