// Stores generated images until they expire: in a folder (local-store.ts) or a bucket
// (s3-store.ts). Long answers under Idempotency-Keys are stored beside them, sealed.
import type { Readable } from 'node:stream';
import type { Clock } from '../../lib/clock.ts';
import type { StoredMediaType } from './image-id.ts';

export type StoredImage = { readonly id: string; readonly expiresAtSeconds: number };

type ToStore = { readonly bytes: Buffer; readonly mediaType: StoredMediaType };
type FoundImage = { readonly mediaType: StoredMediaType; readonly sizeBytes: number };

/** Inclusive offsets within the image. */
export type ByteRange = { readonly start: number; readonly end: number };

export type ImageStore = {
  /** The whole image is readable once this resolves. */
  readonly put: (image: ToStore) => Promise<StoredImage>;
  /** Returns null when the image does not exist or has expired. */
  readonly find: (id: string) => Promise<FoundImage | null>;
  /**
   * A stream of the bytes; null when the image was removed since it was found. The caller must
   * destroy a stream that it does not read.
   */
  readonly read: (id: string, range: ByteRange | null) => Promise<Readable | null>;
  /** Removes images that expired on past days, one by one. Stops when `signal` aborts. */
  readonly removeExpired: (signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type ImageStoreOptions = {
  /** The lifetime of an image. */
  readonly keepSeconds: number;
  readonly clock: Clock;
};
