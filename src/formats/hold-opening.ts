// Holds back the frames that only open a stream (a role, `message_start`) until something of the
// answer comes. A failure before that can then still be followed by another call.
import type { StreamPipe } from './format.ts';

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
  return {
    push: (input) => pass(pipe.push(input)),
    end: () => pass(pipe.end()),
    limit: () => pass(pipe.limit()),
    close: (costUsd) => pipe.close(costUsd),
    fail: (error, asked) => opening + pipe.fail(error, asked),
    progress,
  };
}
