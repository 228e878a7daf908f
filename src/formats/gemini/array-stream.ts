// The stream without `alt=sse`: one JSON array that grows. Its frames are those of the event stream.
import type { AnswerReader, ClientFormat, StreamPipe } from '../format.ts';
import { mapFrames } from '../map-frames.ts';
import { asArray, readArray } from './frame.ts';

/** Returns the format whose streams are arrays. `reader`: of its other answers. */
export function withArrayStreams(format: ClientFormat, reader: AnswerReader): ClientFormat {
  return {
    ...format,
    answerReader: { ...reader, readFrames: readArray },
    streamType: 'application/json',
    // White space between two elements, or before the first.
    keepAlive: '\n',
    openingKeepAlive: '\n',
    writeStream: (context) => asArrayPipe(format.writeStream(context)),
    relay: {
      ...format.relay,
      relayStream: (context) => asArrayPipe(format.relay.relayStream(context)),
    },
  };
}

function asArrayPipe<Input>(pipe: StreamPipe<Input>): StreamPipe<Input> {
  let isFirst = true;
  const send = (frames: string) => {
    const sent = asArray(frames, isFirst);
    isFirst &&= frames === '';
    return sent;
  };
  // It changes nothing: the sent and the stored frames can differ.
  const sendLast = (frames: string) => `${asArray(frames, isFirst)}]`;
  return mapFrames(pipe, send, sendLast);
}
