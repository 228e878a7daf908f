// Reads the events of ConverseStream. The usage follows the stop reason and ends the answer.
import type { StreamEvent, UpstreamFailure } from '../../canonical/event.ts';
import { isObject } from '../../lib/json.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { parseEventData } from '../event-data.ts';
import { UnreadableAnswer, type StreamReader } from '../format.ts';
import { brokenStream, invalidOutput, unreadableEvent } from '../stream-progress.ts';
import { AnswerReader } from './answer-reader.ts';

export function readStream(): StreamReader {
  const answer = new AnswerReader();
  let hasEnded = false;
  const fail = (failure: UpstreamFailure): StreamEvent[] => {
    hasEnded = true;
    return [{ type: 'error', failure }];
  };
  const guard = (read: () => StreamEvent[]): StreamEvent[] => {
    try {
      return read();
    } catch (error) {
      if (error instanceof UnreadableAnswer) return fail(invalidOutput(error.message));
      throw error;
    }
  };
  return {
    push({ event, data }: SseEvent) {
      if (hasEnded || data === '') return [];
      const parsed = parseEventData(data);
      if (!isObject(parsed)) return fail(unreadableEvent(data));
      return guard(() => answer.read(event, parsed));
    },
    end() {
      if (hasEnded) return [];
      if (!answer.hasStopped) return fail(brokenStream());
      return guard(() => {
        const events = answer.finish();
        hasEnded = true;
        return events;
      });
    },
    usageSoFar: () => answer.usage,
    isComplete: () => answer.hasStopped && answer.usage !== null,
  };
}
