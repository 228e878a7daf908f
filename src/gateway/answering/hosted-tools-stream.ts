// The stream of an answer for which the gateway searches the web or draws. The client's format
// writes the frames of all turns as those of one answer.
import type { ApiError, ErrorContext } from '../../canonical/errors.ts';
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import type { Stop } from '../../canonical/stop.ts';
import type { DrawingPart, SearchPart } from '../../canonical/own-tools.ts';
import type { ToolCallPart } from '../../canonical/request.ts';
import { AnswerCollector } from '../../canonical/answer.ts';
import { countUsage, mergeUsage } from '../../canonical/usage.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { AnswerContext, StreamPipe, StreamProgress } from '../../formats/format.ts';
import { brokenStream, newProgress } from '../../formats/stream-progress.ts';
import { withLimit } from '../../formats/with-limit.ts';
import { openFrames, type OpenFrames } from './frames.ts';
import { answerContextOf } from './head.ts';
import { callUpstream } from './call-upstream.ts';
import type { OwnTools } from '../routing/asked-tools.ts';
import { bytesPerToken } from '../charging/used.ts';
import type { Called } from '../stages.ts';
import { cutShort, startOf, ToolTurns } from './hosted-tools.ts';

export function openTools(
  called: Called,
  own: OwnTools,
  chunks: AsyncIterable<Uint8Array>,
): OpenFrames {
  const pipe = new ToolPipe(called, own);
  return { frames: pipe.run(chunks), pipe };
}

class ToolPipe {
  readonly progress: StreamProgress = newProgress();
  readonly #called: Called;
  readonly #context: AnswerContext;
  readonly #turns: ToolTurns;
  /** Of the whole answer. */
  readonly #writer: StreamPipe<StreamEvent>;
  /** The turn that runs. */
  #turn: OpenFrames['pipe'] | null = null;
  /** Bytes of its output that are counted. */
  #countedBytes = 0;
  /** The call of ours that runs. */
  #running: ToolCallPart | null = null;

  constructor(called: Called, own: OwnTools) {
    this.#called = called;
    this.#context = answerContextOf(called);
    this.#turns = new ToolTurns(called, own);
    this.#writer = called.asked.format.writeStream(this.#context);
  }

  /** An answer that breaks behind an image ends there: the client has the image, and pays. */
  async *run(first: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    const { waiting } = this.#called.running.run;
    let failure: UpstreamFailure | null;
    try {
      yield* this.#runTurns(first);
      ({ failure } = this.progress);
      if (failure === null || !this.#turns.hasDrawn) return;
    } catch (error) {
      if (!(error instanceof UpstreamBroken) || !this.#turns.hasDrawn || waiting.aborted)
        throw error;
      ({ failure } = error);
    }
    this.#turns.noteEnd(failure);
    yield this.#writer.limit();
    Object.assign(this.progress, { status: 'finished', stop: cutShort, failure: null });
  }

  async *#runTurns(first: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
    const { unseen } = this.#called.call;
    for (let chunks = first; ;) {
      const { current } = this.#turns;
      const collected = new AnswerCollector();
      const { frames, pipe } = openFrames(current, chunks, this.#turnWriter(collected));
      this.#turn = pipe;
      for await (const text of frames) {
        this.#note(pipe.progress);
        yield text;
      }
      const { status, stop, failure, usage, output } = pipe.progress;
      const { content } = collected;
      const calls =
        status === 'finished'
          ? this.#turns.end({ content, usage, outputBytes: output.bytes, stop })
          : [];
      // Tokens of this turn that nobody saw stay counted when the next turn adds its output.
      const writtenBytes = (this.#turns.usage?.outputTokens ?? 0) * bytesPerToken;
      this.progress.output.addBytes(Math.max(writtenBytes - this.progress.output.bytes, 0));
      unseen.noteCounted(this.progress.output);
      for (const call of calls) {
        this.#running = call;
        yield this.#writer.push(startOf(call));
        const part = yield* this.#run(call);
        this.progress.searches = this.#turns.searches;
        this.#running = null;
        yield this.#writer.push(part);
      }
      if (calls.length === 0 || !this.#turns.next()) {
        Object.assign(this.progress, {
          status,
          stop: this.#turns.shownStop(stop, content),
          failure: failure && this.#turns.usage ? this.#turns.failureOf(failure) : failure,
        });
        if (status === 'finished') yield this.#finish();
        return;
      }
      const { spentMs } = this.#turns;
      const reply = await callUpstream(this.#turns.current, true, spentMs);
      if (reply.kind === 'failure') {
        this.progress.usage = this.#turns.usageAfter(reply);
        // The earlier turns were complete, so their count is final.
        this.progress.isComplete = reply.isWhole || reply.failure.kind === 'status';
        throw new UpstreamBroken(this.#turns.failureOf(reply.failure));
      }
      ({ chunks } = reply);
      unseen.noteOwnWait();
    }
  }

  /** Runs a call of ours, and shows its image while it is drawn. */
  async *#run(call: ToolCallPart): AsyncGenerator<string, SearchPart | DrawingPart> {
    const shown: string[] = [];
    let next = Promise.withResolvers<void>();
    let isRunning = true;
    const running = this.#called.call.unseen.ownWait(
      this.#turns.run(call, (base64) => {
        shown.push(base64);
        next.resolve();
      }),
    );
    const end = () => {
      isRunning = false;
      next.resolve();
    };
    void running.then(end, end);
    for (let index = 0; ;) {
      await next.promise;
      next = Promise.withResolvers();
      for (const base64 of shown.splice(0))
        yield this.#writer.push({ type: 'drawing-partial', index: index++, base64 });
      if (!isRunning) return running;
    }
  }

  limit(): string {
    const { progress, limit } = this.#turn!;
    let frames = '';
    let stop: Stop | null = cutShort;
    if (progress.status === 'running') {
      frames = limit();
      ({ stop } = progress);
    } else if (this.#running) {
      const { type } = startOf(this.#running);
      frames = this.#writer.push(
        type === 'drawing-start'
          ? { type: 'drawing', prompt: null, drawn: 'unavailable' }
          : { type: 'search', query: null, found: 'unavailable' },
      );
    }
    Object.assign(this.progress, { status: 'finished', stop });
    return frames + this.#finish();
  }

  #finish(): string {
    return this.#writer.push({ type: 'finish', stop: this.progress.stop!, usage: null });
  }

  close(costUsd: number): string {
    const { usage, output } = this.progress;
    this.#writer.progress.usage = countUsage(usage, {
      ...this.#context,
      outputBytes: output.bytes,
    });
    return this.#writer.close(costUsd);
  }

  fail(error: ApiError, context: ErrorContext): string {
    return this.#writer.fail(error, context);
  }

  /** Counts what has come, over all turns. */
  #note({ status, usage, output, isOpening, isCut, isCutShort }: StreamProgress): void {
    if (isOpening !== undefined) this.progress.isOpening = isOpening;
    if (isCut) Object.assign(this.progress, { isCut, ...(isCutShort && { isCutShort }) });
    this.progress.output.addBytes(output.bytes - this.#countedBytes);
    this.#countedBytes = status === 'running' ? output.bytes : 0;
    const outputBytes = status === 'finished' ? output.bytes : 0;
    this.progress.usage = this.#turns.usageWith(usage, outputBytes);
  }

  /**
   * Returns a writer for one turn. It passes the turn's blocks on, without calls of ours, later
   * starts and the end, and collects all of them for the next turn.
   */
  #turnWriter(collected: AnswerCollector): StreamPipe<StreamEvent> {
    const progress = newProgress();
    const whole = this.#writer;
    let isHidden = false;
    return withLimit({
      ...whole,
      progress,
      push: (event) => {
        if (progress.status !== 'running') return '';
        progress.output.addEvent(event);
        collected.push(event);
        if (event.type === 'start' || event.type === 'finish')
          progress.usage = mergeUsage(progress.usage, event.usage);
        if (event.type === 'finish')
          Object.assign(progress, { status: 'finished', stop: event.stop });
        if (event.type === 'error')
          Object.assign(progress, { status: 'failed', failure: event.failure });
        if (event.type === 'tool-call-start') isHidden = this.#turns.isOwn(event);
        const isShown = progress.status === 'running' && !isHidden;
        if (event.type === 'tool-call-end') isHidden = false;
        return isShown ? this.#show(event) : '';
      },
      end() {
        if (progress.status === 'running')
          Object.assign(progress, { status: 'failed', failure: brokenStream() });
        return '';
      },
    });
  }

  #show(event: StreamEvent): string {
    const { citer, usage } = this.#turns;
    if (event.type === 'start' && usage !== null) return '';
    if (event.type === 'text-start') citer.startText();
    const cited = event.type === 'text-delta' ? citer.read(event.text) : [];
    return [event, ...cited.map((citation) => ({ type: 'citation', citation }) as const)]
      .map((one) => this.#writer.push(one))
      .join('');
  }
}
