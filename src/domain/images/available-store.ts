// The image store as requests use it: clients get a plain "unavailable" error. The cause, which may
// name the bucket, goes only to the operator.
import { ApiError } from '../../canonical/errors.ts';
import type { ImageStore } from './image-store.ts';

/**
 * Wraps `store`: failures become ApiError `upstream_unavailable`, and `onError` gets their causes.
 */
export function withReportedFailures(
  store: ImageStore,
  onError: (error: unknown) => void,
): ImageStore {
  async function reported<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (cause) {
      onError(cause);
      throw new ApiError('upstream_unavailable', unavailable, { cause, retryAfterSeconds: 5 });
    }
  }
  return {
    put: (image) => reported(store.put(image)),
    find: (id) => reported(store.find(id)),
    read: (id, range) => reported(store.read(id, range)),
    removeExpired: store.removeExpired,
    close: store.close,
  };
}

const unavailable =
  'The image storage is unavailable. Nothing was charged; retry shortly, or request images with ' +
  '`response_format` `b64_json`, which are not stored.';
