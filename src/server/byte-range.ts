// The `Range` header, for answers of known length. https://www.rfc-editor.org/rfc/rfc9110#section-14
export type RangeAsked =
  | { readonly kind: 'whole' }
  | { readonly kind: 'unsatisfiable' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number };

/**
 * Parses a `Range` header. A malformed range, another unit, or several ranges get the whole answer,
 * as the standard allows. `end` is inclusive.
 */
export function parseRange(header: string | undefined, sizeBytes: number): RangeAsked {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === ''))
    return { kind: 'whole' };
  if (first === '') return partOf(Math.max(sizeBytes - Number(last), 0), sizeBytes - 1, sizeBytes);
  if (last !== '' && Number(last) < Number(first)) return { kind: 'whole' };
  return partOf(
    Number(first),
    last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1),
    sizeBytes,
  );
}

function partOf(start: number, end: number, sizeBytes: number): RangeAsked {
  return start < sizeBytes ? { kind: 'part', start, end } : { kind: 'unsatisfiable' };
}
