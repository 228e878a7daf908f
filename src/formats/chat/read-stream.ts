// Reads an upstream's stream of chunks as canonical events. Hosts differ in nearly everything but
// the text; the tests show the variants.
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import type { UrlCitation } from '../../canonical/citation.ts';
import { mergeUsage, type Usage } from '../../canonical/usage.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isObject, type JsonObject, listOf, objectOf, objectsOf } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { EventReader } from '../event-reader.ts';
import type { StreamReader } from '../format.ts';
import { brokenStream, unreadableEvent } from '../stream-progress.ts';
import { BlockQueue } from './block-queue.ts';
import { callsOf, readCallPiece } from './call-pieces.ts';
import { citationInBlock, readAnnotations, readSources } from './citations.ts';
import { findCallSignatures, readCallSignature, signedCall } from './call-signatures.ts';
import { readText, readThinkingInContent } from './content.ts';
import { readStreamFailure } from './errors.ts';
import { readImages } from './images.ts';
import { readDetail, readReasoningText } from './reasoning.ts';
import { SimilarChunks } from './similar-chunks.ts';
import { readBreak, readFinishReason, readStop, readStopSequence } from './stop.ts';
import type { PlacedThinking } from './thinking-places.ts';
import { ThinkTags, type Tagged } from './think-tags.ts';
import { readUsage } from './usage.ts';

export function readStream(): StreamReader {
  return new ChatStreamReader();
}

export class ChatStreamReader extends EventReader {
  readonly #chunks = new SimilarChunks();
  readonly #blocks = new BlockQueue();
  readonly #tags = new ThinkTags();
  #hasChoice = false;
  #finishReason: string | null = null;
  #stopSequence: string | null = null;
  /** Why the host broke off; null: it did not. */
  #broken: string | null = null;
  usageSoFar: Usage | null = null;
  #hasAnnotations = false;
  /** The calls whose signatures came with the reasoning. */
  readonly #signedCalls = new Set<string>();
  /** The pages that the last chunk listed beside its choices. */
  #sources: readonly UrlCitation[] = [];

  protected read(event: SseEvent): readonly StreamEvent[] {
    if (event.data.startsWith('[DONE]'))
      return this.#hasChoice ? this.#finish() : this.fail(brokenStream('the stream has no answer'));
    const chunk = this.#chunks.parse(event.data);
    if (!isObject(chunk)) return this.#failUnlessComplete(unreadableEvent(event.data));
    const failure = readStreamFailure(event, chunk);
    return failure ? this.#failUnlessComplete(failure, readUsage(chunk)) : this.#readChunk(chunk);
  }

  /** Returns the events of a whole answer but for its reasoning, `thinking`. Throws UnreadableAnswer. */
  readWhole(
    answer: JsonObject,
    choice: JsonObject,
    thinking: readonly PlacedThinking[],
  ): readonly StreamEvent[] {
    const message = objectOf(choice.message);
    this.usageSoFar = readUsage(answer);
    this.#finishReason = readFinishReason(choice.finish_reason);
    this.#stopSequence = readStopSequence(choice);
    for (const id of findCallSignatures(thinking.map(({ part }) => part)).keys())
      this.#signedCalls.add(id);
    if (thinking.length > 0) this.#tags.skip();
    // In front of their text, because calls may follow it.
    if (readAnnotations(message.annotations).length === 0)
      for (const source of readSources(answer)) this.#blocks.addCitation(source);
    const {
      reasoning: _,
      reasoning_content: _text,
      reasoning_details: _details,
      ...said
    } = message;
    // Calls of a whole answer are whole: two with one id are two.
    this.#readDelta({ ...said, tool_calls: callsOf(message).map(wholeCall) });
    return this.#finish();
  }

  get isComplete(): boolean {
    return this.#finishReason !== null && this.usageSoFar !== null;
  }

  /** Some hosts leave out `[DONE]`: a finish reason ends the stream too. */
  protected close(): readonly StreamEvent[] {
    return this.#finishReason === null
      ? this.fail(brokenStream('the stream ended in mid-answer'))
      : this.#finish();
  }

  /** A failure after a complete answer is ignored. `usage`: that of the failed chunk. */
  #failUnlessComplete(
    failure: UpstreamFailure,
    usage: Usage | null = null,
  ): readonly StreamEvent[] {
    if (this.isComplete) return this.#finish();
    this.usageSoFar = mergeUsage(this.usageSoFar, usage);
    return this.fail(failure);
  }

  #readChunk(chunk: JsonObject): readonly StreamEvent[] {
    const choice = firstChoice(chunk);
    if (choice) this.#readChoice(choice);
    const sources = readSources(chunk);
    if (sources.length > 0) this.#sources = sources;
    this.usageSoFar = mergeUsage(this.usageSoFar, readUsage(chunk));
    // The usage behind a finish reason may not be the last: hosts repeat it with what the cache held
    // (github.com/QuantumNous/new-api/issues/7472, read 2026-11-30).
    return this.#broken === null
      ? this.#blocks.take()
      : this.fail(brokenStream(`the stream broke off: ${this.#broken}`));
  }

  #readChoice(choice: JsonObject): void {
    const isFirst = !this.#hasChoice;
    this.#hasChoice = true;
    // A host that answers in one chunk may send a message instead of a delta. When both come, the
    // message repeats the deltas.
    const delta = isObject(choice.delta) ? choice.delta : isFirst ? choice.message : null;
    if (isObject(delta)) this.#readDelta(delta);
    const reason = readFinishReason(choice.finish_reason);
    if (reason === null) return;
    this.#finishReason = reason;
    this.#stopSequence = readStopSequence(choice);
    this.#broken = readBreak(choice, this.#blocks.hasBlocks);
  }

  #readDelta(delta: JsonObject): void {
    this.#readReasoning(delta);
    this.#blocks.addText('thinking', readThinkingInContent(delta.content));
    const text = readText(delta.content);
    if (text !== '') {
      if (this.#blocks.hasBlocks) this.#tags.skip();
      this.#addTagged(this.#tags.push(text));
    }
    for (const citation of readAnnotations(delta.annotations)) {
      this.#hasAnnotations = true;
      this.#blocks.addCitation(citationInBlock(citation, this.#tags.textStart));
    }
    const refusal = readText(delta.refusal);
    if (refusal !== '') this.#addTagged(this.#tags.end());
    this.#blocks.addText('refusal', refusal);
    for (const call of callsOf(delta)) if (isObject(call)) this.#readToolCall(call);
    for (const source of readImages(delta)) this.#blocks.addImage(source);
  }

  /**
   * Hosts that send details repeat them as plain text. The gateway's own signature repeats the
   * whole block.
   */
  #readReasoning(delta: JsonObject): void {
    const details = listOf(delta.reasoning_details).map(readDetail);
    if (!details.some((detail) => detail?.text))
      this.#blocks.addText('thinking', readReasoningText(delta));
    for (const detail of details) {
      if (detail?.signature)
        for (const [callId] of signedCall(detail.signature)) this.#signedCalls.add(callId);
      if (detail?.redacted && detail.signature) this.#blocks.addHiddenThinking(detail.signature);
      else if (detail?.signature) this.#blocks.addSignature(detail.signature, detail.text);
      else if (detail) this.#blocks.addText('thinking', detail.text);
    }
  }

  #addTagged({ thinking, text }: Tagged): void {
    this.#blocks.addText('thinking', thinking);
    this.#blocks.addText('text', text);
  }

  #readToolCall(call: JsonObject): void {
    this.#addTagged(this.#tags.end());
    const piece = readCallPiece(call);
    const { id } = piece;
    // Without an id, the signature belongs to the call that follows it.
    if (!this.#signedCalls.has(id))
      for (const { signature } of readCallSignature(call, id))
        this.#blocks.addHiddenThinking(signature!);
    this.#blocks.addToolCall(piece);
  }

  #finish(): readonly StreamEvent[] {
    this.#addTagged(this.#tags.end());
    if (!this.#hasAnnotations) for (const source of this.#sources) this.#blocks.addCitation(source);
    this.#blocks.end();
    this.hasEnded = true;
    const stop = readStop(this.#finishReason, this.#blocks, this.#stopSequence);
    return [...this.#blocks.take(), { type: 'finish', stop, usage: this.usageSoFar }];
  }

  protected override fail(failure: UpstreamFailure): readonly StreamEvent[] {
    return [...this.#blocks.take(), ...super.fail(failure)];
  }
}

function wholeCall(call: unknown, index: number): JsonObject {
  const { id } = objectOf(call);
  return { ...objectOf(call), index, id: readText(id) || newIdWithPrefix('call') };
}

/** Translation requests one answer, so a choice without an index is the first. */
function firstChoice(chunk: JsonObject): JsonObject | undefined {
  return objectsOf(chunk.choices).find((choice) => (choice.index ?? 0) === 0);
}
