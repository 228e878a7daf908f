// Adds `limit` to a writer of canonical events. All formats share this way to end an answer early.
import type { StreamEvent } from '../canonical/event.ts';
import type { StreamPipe } from './format.ts';

type BlockEnd = Extract<StreamEvent, { readonly type: `${string}-end` }>;

/** The event that ends each kind of block. */
const endOfStart: Readonly<Partial<Record<StreamEvent['type'], BlockEnd>>> = {
  'text-start': { type: 'text-end' },
  'refusal-start': { type: 'refusal-end' },
  'thinking-start': { type: 'thinking-end' },
  'tool-call-start': { type: 'tool-call-end' },
};

export function withLimit(writer: Omit<StreamPipe<StreamEvent>, 'limit'>): StreamPipe<StreamEvent> {
  let hasStarted = false;
  let blockEnd: BlockEnd | null = null;
  const push = (event: StreamEvent): string => {
    hasStarted = true;
    if (event.type.endsWith('-end')) blockEnd = null;
    blockEnd = endOfStart[event.type] ?? blockEnd;
    return writer.push(event);
  };
  return {
    push,
    end: () => writer.end(),
    limit: () => {
      const start = hasStarted ? '' : push({ type: 'start', usage: null });
      const end = blockEnd ? push(blockEnd) : '';
      return (
        start +
        end +
        push({ type: 'finish', stop: { reason: 'length', sequence: null }, usage: null })
      );
    },
    close: (costUsd) => writer.close(costUsd),
    fail: (error, asked) => writer.fail(error, asked),
    progress: writer.progress,
  };
}
