// Measures what a model has generated; our own count is made from it when the upstream gives none.
// Reasoning counts by its text or by the data sealed in its signatures, whichever is larger,
// because the text is often a summary, or missing.
import { utf8Length } from '../lib/tokens-from-bytes.ts';
import { eventsOfPart } from './answer.ts';
import type { StreamEvent } from './event.ts';
import type { AnswerPart } from './own-tools.ts';

/** An image counts as many tokens as Google's do, 1,290, whatever the size of its file. */
const imageBytes = 1_290 * 4;

export class OutputMeter {
  #written = 0;
  #shownReasoning = 0;
  #sealedReasoning = 0;

  /** UTF-8 bytes so far. */
  get bytes(): number {
    return this.bytesWithUnseen(0);
  }

  /**
   * As `bytes`, with reasoning that was not shown. Sealed reasoning holds the unseen part already,
   * so the larger one counts.
   */
  bytesWithUnseen(unseenBytes: number): number {
    return this.#written + Math.max(this.#shownReasoning + unseenBytes, this.#sealedReasoning);
  }

  /** Text, refusals, and the arguments of calls. */
  addText(text: string): void {
    this.addBytes(utf8Length(text));
  }

  addBytes(bytes: number): void {
    this.#written += bytes;
  }

  addImages(count: number): void {
    this.addBytes(count * imageBytes);
  }

  addReasoning(text: string): void {
    this.#shownReasoning += utf8Length(text);
  }

  /** A signature or encrypted reasoning, in base64: three bytes for four characters. */
  addSealed(value: string): void {
    this.#sealedReasoning += Math.floor((value.length * 3) / 4);
  }

  addEvent(event: StreamEvent): void {
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
      case 'tool-call-delta':
        this.addText(event.text);
        return;
      case 'thinking-delta':
        this.addReasoning(event.text);
        return;
      case 'thinking-signature':
        this.addSealed(event.signature.value);
        return;
      case 'image':
        this.addImages(1);
        return;
      default:
        return;
    }
  }

  /** Results of the gateway's own tools do not count: the model did not write them. */
  addPart(part: AnswerPart): void {
    for (const event of eventsOfPart(part)) this.addEvent(event);
  }

  /** To a stream's whole content, where its end has brought more than its deltas did. */
  raiseTo(content: readonly AnswerPart[]): void {
    const whole = meterOf(content);
    if (whole.bytes <= this.bytes) return;
    this.#written = whole.#written;
    this.#shownReasoning = whole.#shownReasoning;
    this.#sealedReasoning = whole.#sealedReasoning;
  }
}

/** Returns the bytes of a whole answer, as its stream would have them. */
export function countOutputBytes(content: readonly AnswerPart[]): number {
  return meterOf(content).bytes;
}

function meterOf(content: readonly AnswerPart[]): OutputMeter {
  const meter = new OutputMeter();
  for (const part of content) meter.addPart(part);
  return meter;
}
