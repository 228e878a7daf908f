// The store of images as requests use it. What goes wrong there is told as just that, and its cause, which may name the bucket, is for
// the operator alone.
import { ApiError } from '../canonical/errors.ts';
import type { ImageStore } from './image-store.ts';

/** Like `store`, but its failures are ApiError `upstream_unavailable`; `onError` is told their causes. */
export function withFailuresTold(store: ImageStore, onError: (error: unknown) => void): ImageStore {
  async function told<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (cause) {
      onError(cause);
      throw new ApiError('upstream_unavailable', unavailable, { cause, retryAfterSeconds: 5 });
    }
  }
  return {
    put: (image) => told(store.put(image)),
    find: (id) => told(store.find(id)),
    read: (id, range) => told(store.read(id, range)),
    removeExpired: store.removeExpired,
    close: store.close,
  };
}

const unavailable =
  'The gateway cannot reach the place where it keeps images at the moment. Nothing was charged; retry shortly, or ask for images with ' +
  '`response_format` `b64_json`, which are not kept.';
