// Conditional requests: a client that has the content need not get it again.

/** Returns true when `If-None-Match` has this tag. Both are in quotes. */
export function isKnown(header: string | undefined, etag: string): boolean {
  return (
    header !== undefined &&
    header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
  );
}
