// Reads `<width>x<height>` in pixels, within the limits of a model family.
import { invalidRequest } from '../../canonical/errors.ts';
import type { PixelSize, SizeRule } from '../../terms/image-model.ts';

/**
 * Throws ApiError `invalid_request` with the whole rule, because clients otherwise guess the next
 * size.
 */
export function readImageSize(text: string, rule: SizeRule): PixelSize {
  const match = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/.exec(text);
  const size = match && { width: Number(match[1]), height: Number(match[2]) };
  const problem = size ? problemOf(size, rule) : 'is not of that form';
  if (size && problem === null) return size;
  throw invalidRequest(
    'size',
    `size must be ${sizeRuleInWords(rule)}; ${JSON.stringify(text)} ${problem}`,
  );
}

/**
 * @example '<width>x<height>, each a multiple of 16 from 64 to 3840, in all at most 8294400
 * pixels, from 1:3 to 3:1'
 */
export function sizeRuleInWords({
  multipleOf,
  sideMin,
  sideMax,
  pixelsMax,
  aspectMax,
}: SizeRule): string {
  return (
    `<width>x<height>, each a multiple of ${multipleOf} from ${sideMin} to ${sideMax}, in all at most ${pixelsMax} pixels, ` +
    `from 1:${aspectMax} to ${aspectMax}:1`
  );
}

function problemOf(
  { width, height }: PixelSize,
  { multipleOf, sideMin, sideMax, pixelsMax, aspectMax }: SizeRule,
): string | null {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  if (short % multipleOf !== 0 || long % multipleOf !== 0)
    return `has a side that is no multiple of ${multipleOf}`;
  if (short < sideMin) return 'has a side that is too short';
  if (long > sideMax) return 'has a side that is too long';
  if (width * height > pixelsMax) return `has ${width * height} pixels`;
  return long > short * aspectMax ? 'is too narrow' : null;
}
