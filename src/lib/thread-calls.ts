// Calls between two threads of the process over a message port, in both directions. Arguments and
// results are copied. Each side passes the functions that the other may call.
import type { MessagePort, Worker } from 'node:worker_threads';

// oxlint-disable-next-line typescript/no-explicit-any -- any function's parameters
type Functions = Readonly<Record<string, (...given: any[]) => unknown>>;

/** The other side's functions. */
export type Remote<Theirs extends Functions> = {
  /** Calls a function there. Rejects when it throws. */
  readonly call: <Name extends keyof Theirs & string>(
    name: Name,
    ...given: Parameters<Theirs[Name]>
  ) => Promise<Awaited<ReturnType<Theirs[Name]>>>;
  /** Calls a function there that answers nothing. */
  readonly tell: <Name extends keyof Theirs & string>(
    name: Name,
    ...given: Parameters<Theirs[Name]>
  ) => void;
};

type Message =
  | { readonly name: string; readonly given: readonly unknown[]; readonly id: number | null }
  | { readonly answers: number; readonly result: unknown }
  | { readonly answers: number; readonly error: unknown };

type Waiting = {
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
};

export function connectThread<Theirs extends Functions>(
  port: MessagePort | Worker,
  own: Functions,
): Remote<Theirs> {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  port.on('message', (message: Message) => {
    if ('name' in message) void answer(message);
    else settle(message);
  });
  return {
    call: (name, ...given) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        post({ name, given, id: lastId });
      }),
    tell: (name, ...given) => post({ name, given, id: null }),
  };

  async function answer({ name, given, id }: Extract<Message, { name: string }>): Promise<void> {
    try {
      const result = await own[name]!(...given);
      if (id !== null) post({ answers: id, result });
    } catch (error) {
      if (id === null) throw error;
      post({ answers: id, error });
    }
  }

  function settle(message: Exclude<Message, { name: string }>): void {
    const { resolve, reject } = waiting.get(message.answers)!;
    waiting.delete(message.answers);
    if ('error' in message) reject(message.error);
    else resolve(message.result as never);
  }

  function post(message: Message): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is a thread, not a window
    port.postMessage(message);
  }
}
