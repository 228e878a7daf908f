// Edits frames that a client format has written, for hosts whose answers differ.
import type { StreamEvent } from '../../canonical/event.ts';
import type { ClientFormat, StreamPipe } from '../../formats/format.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { formatSse, SseParser } from '../../lib/sse.ts';
import type { Host } from './host.ts';

/** Returns the writers of a host that answers as the client format does, without its usage if asked. */
export function writersOf(
  { writeAnswer, writeStream }: Pick<ClientFormat, 'writeAnswer' | 'writeStream'>,
  withoutUsage: (data: JsonObject) => JsonObject,
): Pick<Host, 'writeAnswer' | 'writeStream'> {
  return {
    writeAnswer: (answer, { context, hasUsage }) => {
      const written = writeAnswer(answer, context);
      return hasUsage ? written : withoutUsage(written);
    },
    writeStream: ({ context, hasUsage }) => {
      const write = writeEvents(writeStream(context));
      return hasUsage ? write : (event) => changeFrames(write(event), withoutUsage);
    },
  };
}

/** Returns the frames of each event; those of `finish` end the stream. */
export function writeEvents(pipe: StreamPipe<StreamEvent>): (event: StreamEvent) => string {
  return (event) => pipe.push(event) + (event.type === 'finish' ? pipe.close(0) : '');
}

/** `frames`: whole frames. Data that is not a JSON object, such as `[DONE]`, is kept. */
export function changeFrames(
  frames: string,
  change: (data: JsonObject) => JsonObject | readonly JsonObject[],
): string {
  if (frames === '') return '';
  return new SseParser()
    .push(Buffer.from(frames, 'utf8'))
    .map(({ event, data }) => {
      const parsed: unknown = data.startsWith('{') ? JSON.parse(data) : null;
      if (!isObject(parsed)) return formatSse(event || null, data);
      const changed = change(parsed);
      return (Array.isArray(changed) ? changed : [changed])
        .map((each: JsonObject) => writeFrame(event, each))
        .join('');
    })
    .join('');
}

/** Named events have the `type` of their data as name. */
function writeFrame(event: string, data: JsonObject): string {
  return formatSse(event === '' ? null : String(data.type), JSON.stringify(data));
}
