// Translates an answer: an upstream format's reader feeds a client format's writer. Neither knows the
// other. A whole answer takes the path of a stream, as its events.
import { AnswerCollector, eventsOf, type Answer } from '../canonical/answer.ts';
import { keepCallsConsistent } from './adapting/consistent-calls.ts';
import { raiseCustomCalls } from './adapting/custom-tools.ts';
import { dropEcho } from './adapting/drop-echo.ts';
import type { Emulated } from './adapting/emulated.ts';
import type { StreamEvent } from '../canonical/event.ts';
import type { Stop } from '../canonical/stop.ts';
import { OutputMeter } from '../canonical/output-bytes.ts';
import { keepObject } from './adapting/json-object.ts';
import { StreamCut } from './adapting/stop-cut.ts';
import { unwrapAnswer } from './adapting/wrapped-schema.ts';
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

/** Undoes it in the events of one answer. Calls `drop` with output that is not shown. */
function createAdapter(
  { loweredTools, toolNames, emulated }: Adaptation,
  drop: (event: StreamEvent) => void,
) {
  const cut = emulated?.stopSequences ? new StreamCut(emulated.stopSequences, drop) : null;
  const steps = [
    toolNames ? (event: StreamEvent) => [restoreEventName(event, toolNames)] : null,
    loweredTools && loweredTools.size > 0 ? raiseCustomCalls(loweredTools) : null,
    emulated?.echo === undefined ? null : dropEcho(emulated.echo),
    cut && ((event: StreamEvent) => cut.push(event)),
    emulated?.jsonObject ? keepObject(drop) : null,
    emulated?.wrapped ? unwrapAnswer(drop) : null,
  ].filter((step) => step !== null);
  const adapt = (events: readonly StreamEvent[]) =>
    steps.reduce((all, step) => all.flatMap(step), events);
  return { cut, adapt, keepConsistent: keepCallsConsistent() };
}

/** Returns what a streaming client would have collected, and the bytes of all that was generated. */
export function translateAnswer(
  answer: Answer,
  adaptation: Adaptation = {},
): { readonly shown: Answer; readonly outputBytes: number } {
  const meter = new OutputMeter();
  const { adapt, keepConsistent } = createAdapter(adaptation, (event) => meter.addEvent(event));
  const collector = new AnswerCollector();
  for (const event of adapt([...eventsOf(answer)])) {
    meter.addEvent(event);
    collector.push(keepConsistent(event));
  }
  return { shown: collector.answer!, outputBytes: meter.bytes };
}

export function translateStream(
  reader: StreamReader,
  writer: StreamPipe<StreamEvent>,
  adaptation: Adaptation = {},
): StreamPipe<SseEvent> {
  const { progress } = writer;
  const drop = (event: StreamEvent) => progress.output.addEvent(event);
  const { cut, adapt, keepConsistent } = createAdapter(adaptation, drop);
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
    for (const event of adapt(events)) {
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
