import type { StreamPipe } from './format.ts';

/** Returns a pipe whose frames are changed. `mapLast`: those of `close` and `fail`. */
export function mapFrames<Input>(
  pipe: StreamPipe<Input>,
  map: (frames: string) => string,
  mapLast = map,
): StreamPipe<Input> {
  return {
    push: (input) => map(pipe.push(input)),
    end: () => map(pipe.end()),
    limit: () => map(pipe.limit()),
    close: (costUsd) => mapLast(pipe.close(costUsd)),
    fail: (error, asked) => mapLast(pipe.fail(error, asked)),
    progress: pipe.progress,
  };
}
