// Reads a request's image parameters: pixels and quality, or aspect ratio and resolution, depending
// on the model's family.
import { invalidRequest, refuseField } from '../../canonical/errors.ts';
import type {
  ImageFormat,
  ImageModel,
  ShapedParameters,
  SizedParameters,
  PixelSize,
  SizeRule,
} from '../../terms/image-model.ts';
import type { ImageRequest, RawImageRequest } from './request-types.ts';
import { describeValue } from '../../lib/schema.ts';

export type FamilyChoice = Pick<
  ImageRequest,
  'size' | 'quality' | 'aspectRatio' | 'resolution' | 'outputFormat'
>;
type RequestedParameters = Pick<
  RawImageRequest,
  'size' | 'quality' | 'aspectRatio' | 'resolution' | 'outputFormat'
>;

/**
 * Sent by OpenAI's clients to let the model choose. Here it means the default, which has a known
 * price.
 */
const auto = 'auto';

/** Throws ApiError `invalid_request` for a parameter of another family or an unknown value. */
export function checkFamilyParameters(
  requested: RequestedParameters,
  model: ImageModel,
): FamilyChoice {
  const { parameters } = model;
  const outputFormat = readOutputFormat(requested.outputFormat, model);
  if (parameters.kind === 'size') {
    refuseForeign({ aspect_ratio: requested.aspectRatio, resolution: requested.resolution }, model);
    return {
      ...readSized(requested, parameters),
      aspectRatio: null,
      resolution: null,
      outputFormat,
    };
  }
  refuseForeign({ size: requested.size, quality: requested.quality }, model);
  return { ...readShaped(requested, parameters), size: null, quality: null, outputFormat };
}

function readSized({ size, quality }: RequestedParameters, parameters: SizedParameters) {
  return {
    size: isDefault(size) ? parameters.size.default : readImageSize(size, parameters.size),
    quality: oneOf('quality', quality, parameters.quality),
  };
}

function readShaped(
  { aspectRatio, resolution }: RequestedParameters,
  parameters: ShapedParameters,
) {
  return {
    aspectRatio: oneOf('aspect_ratio', aspectRatio, parameters.aspectRatio),
    resolution: oneOf('resolution', resolution, parameters.resolution),
  };
}

function refuseForeign(
  requested: Readonly<Record<string, string | null>>,
  { id, family, parameters }: ImageModel,
): void {
  for (const [name, value] of Object.entries(requested)) {
    if (isDefault(value)) continue;
    throw invalidRequest(
      name,
      `${name} is not a parameter of ${id}: models of the family ${family} take ${parametersInWords(parameters)}`,
    );
  }
}

function parametersInWords(parameters: ImageModel['parameters']): string {
  if (parameters.kind === 'size') {
    return `size (${sizeRuleInWords(parameters.size)}) and quality (${listed(parameters.quality.allowed)})`;
  }
  return `aspect_ratio (${listed(parameters.aspectRatio.allowed)}) and resolution (${listed(parameters.resolution.allowed)})`;
}

function readOutputFormat(
  value: string | null,
  { id, parameters: { outputFormats } }: ImageModel,
): ImageFormat | null {
  if (isDefault(value)) return null;
  const format = outputFormats.find((known) => known === value);
  if (format) return format;
  const expected =
    outputFormats.length === 0
      ? `must be left out for ${id}, whose images come as it makes them`
      : `must be ${listed(outputFormats)}`;
  throw invalidRequest('output_format', `output_format ${expected}; got ${describeValue(value)}`);
}

function oneOf<Value extends string>(
  name: string,
  value: string | null,
  { default: byDefault, allowed }: { readonly default: Value; readonly allowed: readonly Value[] },
): Value {
  if (isDefault(value)) return byDefault;
  const found = allowed.find((known) => known === value);
  if (found !== undefined) return found;
  throw invalidRequest(name, `${name} must be ${listed(allowed)}; got ${describeValue(value)}`);
}

function isDefault(value: string | null): value is null {
  return value === null || value === auto;
}

function listed(values: readonly string[]): string {
  return values.length < 2
    ? values.join('')
    : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

/**
 * Throws ApiError `invalid_request` with the whole rule, because clients otherwise guess the next
 * size.
 */
function readImageSize(text: string, rule: SizeRule): PixelSize {
  const match = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/.exec(text);
  const size = match && { width: Number(match[1]), height: Number(match[2]) };
  const problem = size ? problemOf(size, rule) : 'is not of that form';
  if (size && problem === null) return size;
  refuseField('size', `must be ${sizeRuleInWords(rule)}; ${JSON.stringify(text)} ${problem}`);
}

/**
 * @example '<width>x<height>, each a multiple of 16 from 64 to 3840, in all at most 8294400
 * pixels, from 1:3 to 3:1'
 */
function sizeRuleInWords({ multipleOf, sideMin, sideMax, pixelsMax, aspectMax }: SizeRule): string {
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
