// Stores generated images until they expire: in a folder (local-store.ts) or a bucket
// (s3-store.ts). Long answers under Idempotency-Keys are stored beside them, sealed.
import type { Readable } from 'node:stream';
import type { Clock } from '../../lib/clock.ts';
import { newImageId, parseImageId, type StoredMediaType } from './image-id.ts';

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

/**
 * Where images are, from a store's root: `<day of expiry>/<id>`. When a UTC day is over, its whole folder
 * has expired.
 */
export function imagePlaces({ keepSeconds, clock }: ImageStoreOptions) {
  const nowSeconds = () => Math.floor(clock.nowMs() / 1_000);
  return {
    next(mediaType: StoredMediaType) {
      const expiresAtSeconds = nowSeconds() + keepSeconds;
      const id = newImageId({ expiresAtSeconds, mediaType });
      return { image: { id, expiresAtSeconds }, folder: dayFolderOf(expiresAtSeconds) };
    },
    /** Returns null for expired images and invalid ids, so nothing else ever becomes a path. */
    locate(id: string) {
      const parts = parseImageId(id);
      if (parts === null || parts.expiresAtSeconds <= nowSeconds()) return null;
      return { mediaType: parts.mediaType, place: `${dayFolderOf(parts.expiresAtSeconds)}/${id}` };
    },
    /** True for the folder of a day that is over: `20261128`. */
    isOver: (folder: string) => /^\d{8}$/.test(folder) && folder < dayFolderOf(nowSeconds()),
  };
}

function dayFolderOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10).replaceAll('-', '');
}
