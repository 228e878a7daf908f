// Edits frames that a client format has written, for hosts whose answers differ.
import type { StreamEvent } from '../../canonical/event.ts';
import type { StreamPipe } from '../../formats/format.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { formatSse, SseParser } from '../../lib/sse.ts';

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
