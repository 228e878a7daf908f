// Holds back the frames that only open a stream (a role, `message_start`) until something of the
// answer comes. A failure before that can then still be followed by another call.
import type { StreamPipe } from './format.ts';
import { mapFrames } from './map-frames.ts';

/** A host that sends more empty pieces than this is answering. */
const openingCharactersMax = 4_000;

/** Holds frames as long as `progress.isOpening` is true. */
export function holdOpening<Input>(pipe: StreamPipe<Input>): StreamPipe<Input> {
  const { progress } = pipe;
  let opening = '';
  const isHeld = () =>
    (progress.isOpening &&
      progress.status === 'running' &&
      opening.length < openingCharactersMax) ||
    progress.status === 'failed';
  const pass = (frames: string) => {
    const all = opening === '' ? frames : opening + frames;
    opening = isHeld() ? all : '';
    return opening === '' ? all : '';
  };
  // Behind a success, nothing is held.
  return mapFrames(pipe, pass, (frames) => opening + frames);
}
