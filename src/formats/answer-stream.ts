// Base class of the streams that are sent to clients: keeps the progress, ends a stream that breaks
// off, and gives the usage that is charged.
import type { StreamEvent, UpstreamFailure } from '../canonical/event.ts';
import { countUsage, mergeUsage, type Usage } from '../canonical/usage.ts';
import type { AnswerContext, StreamProgress } from './format.ts';
import { brokenStream, newProgress } from './stream-progress.ts';

export class AnswerStream {
  readonly progress: StreamProgress = newProgress();
  protected readonly context: AnswerContext;

  constructor(context: AnswerContext) {
    this.context = context;
  }

  /** Called when the upstream closed: what has not ended by then has broken off. */
  end(): string {
    return this.progress.status === 'running' ? this.breakOff(brokenStream()) : '';
  }

  /** Ends the stream without frames: `fail` writes the error. */
  protected breakOff(failure: UpstreamFailure): string {
    this.progress.status = 'failed';
    this.progress.failure = failure;
    return '';
  }

  protected finish({ stop, usage }: Extract<StreamEvent, { type: 'finish' }>): void {
    this.progress.status = 'finished';
    this.progress.stop = stop;
    this.noteUsage(usage);
  }

  protected noteUsage(usage: Usage | null): void {
    this.progress.usage = mergeUsage(this.progress.usage, usage);
  }

  /** Returns the upstream's count, with its gaps filled by our own. */
  protected counted(): Usage {
    const { usage, output } = this.progress;
    return countUsage(usage, { ...this.context, outputBytes: output.bytes });
  }
}
