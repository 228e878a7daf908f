// Translates a stream: an upstream format's reader feeds a client format's writer. Neither knows
// the other.
import { keepCallsConsistent } from './adapting/consistent-calls.ts';
import { raiseCustomCalls } from './adapting/custom-tools.ts';
import { dropEcho } from './adapting/drop-echo.ts';
import type { Emulated } from './adapting/emulated.ts';
import type { StreamEvent } from '../canonical/event.ts';
import type { Stop } from '../canonical/stop.ts';
import { keepObject } from './adapting/json-object.ts';
import { StreamCut } from './adapting/stop-cut.ts';
import { mergeUsage, type Usage } from '../canonical/usage.ts';
import type { SseEvent } from '../lib/sse.ts';
import type { StreamPipe, StreamReader } from './format.ts';
import { holdOpening } from './hold-opening.ts';
import type { ToolNames } from './tool-names.ts';
import { restoreEventName } from './translated-tool-names.ts';

/** What the gateway changed in the request and must undo in the answer. */
type Adaptation = {
  /** The custom tools that were sent as functions. */
  readonly loweredTools?: ReadonlySet<string>;
  /** null: all tools have the client's names. */
  readonly toolNames?: ToolNames | null;
  readonly emulated?: Emulated;
};

export function translateStream(
  reader: StreamReader,
  writer: StreamPipe<StreamEvent>,
  { loweredTools, toolNames, emulated }: Adaptation = {},
): StreamPipe<SseEvent> {
  const { progress } = writer;
  const drop = (event: StreamEvent) => progress.output.addEvent(event);
  const cut = emulated?.stopSequences ? new StreamCut(emulated.stopSequences, drop) : null;
  const steps = [
    toolNames ? (event: StreamEvent) => [restoreEventName(event, toolNames)] : null,
    loweredTools && loweredTools.size > 0 ? raiseCustomCalls(loweredTools) : null,
    emulated?.echo === undefined ? null : dropEcho(emulated.echo, drop),
    cut && ((event: StreamEvent) => cut.push(event)),
    emulated?.jsonObject ? keepObject(drop) : null,
  ].filter((step) => step !== null);
  const keepConsistent = keepCallsConsistent();
  const write = (event: StreamEvent) => writer.push(keepConsistent(event));
  let readUsage: Usage | null = null;
  const noteUsage = () => {
    progress.isComplete = reader.isComplete ?? false;
    const usage = reader.usageSoFar;
    if (usage === readUsage) return;
    readUsage = usage;
    progress.usage = mergeUsage(progress.usage, usage);
  };
  const writeAll = (events: readonly StreamEvent[]) => {
    noteUsage();
    let frames = '';
    for (const event of steps.reduce((all, step) => all.flatMap(step), events)) {
      progress.isOpening = event.type === 'start';
      frames += write(event);
    }
    if (cut?.stop) progress.isCut = true;
    return frames;
  };
  const endCut = (stop: Stop) => {
    progress.isCutShort = true;
    return write({ type: 'finish', stop, usage: null });
  };
  return holdOpening({
    push: (event) => writeAll(reader.push(event)),
    end: () =>
      writeAll(reader.end()) +
      (cut?.stop && progress.status === 'running' ? endCut(cut.stop) : writer.end()),
    limit: () => (cut?.stop ? endCut(cut.stop) : writer.limit()),
    close: (costUsd) => writer.close(costUsd),
    fail: (error, asked) => writer.fail(error, asked),
    progress: writer.progress,
  });
}
