// How a request says what its images should be: by pixels and quality, or by shape and resolution, as the model's family has it.
import { invalidRequest } from '../canonical/errors.ts';
import type { ImageFormat, ImageModel, ShapedParameters, SizedParameters } from '../canonical/image-model.ts';
import { readImageSize, sizeRuleInWords } from './image-size.ts';
import type { ImageRequest, RawImageRequest } from './image-request.ts';

export type FamilyChoice = Pick<ImageRequest, 'size' | 'quality' | 'aspectRatio' | 'resolution' | 'outputFormat'>;
type Asked = Pick<RawImageRequest, 'size' | 'quality' | 'aspectRatio' | 'resolution' | 'outputFormat'>;

/** What OpenAI's clients send to leave the choice to the model: here it is the default, which has a known price. */
const auto = 'auto';

/** Throws ApiError `invalid_request` for a parameter of another family and for a value that this one does not have. */
export function checkFamilyParameters(asked: Asked, model: ImageModel): FamilyChoice {
  const { parameters } = model;
  const outputFormat = readOutputFormat(asked.outputFormat, model);
  if (parameters.kind === 'size') {
    refuseForeign({ aspect_ratio: asked.aspectRatio, resolution: asked.resolution }, model);
    return { ...readSized(asked, parameters), aspectRatio: null, resolution: null, outputFormat };
  }
  refuseForeign({ size: asked.size, quality: asked.quality }, model);
  return { ...readShaped(asked, parameters), size: null, quality: null, outputFormat };
}

function readSized({ size, quality }: Asked, parameters: SizedParameters) {
  return {
    size: isLeftOut(size) ? parameters.size.default : readImageSize(size, parameters.size),
    quality: oneOf('quality', quality, parameters.quality),
  };
}

function readShaped({ aspectRatio, resolution }: Asked, parameters: ShapedParameters) {
  return {
    aspectRatio: oneOf('aspect_ratio', aspectRatio, parameters.aspectRatio),
    resolution: oneOf('resolution', resolution, parameters.resolution),
  };
}

function refuseForeign(asked: Readonly<Record<string, string | null>>, { id, family, parameters }: ImageModel): void {
  for (const [name, value] of Object.entries(asked)) {
    if (isLeftOut(value)) continue;
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

function readOutputFormat(value: string | null, { id, parameters: { outputFormats } }: ImageModel): ImageFormat | null {
  if (isLeftOut(value)) return null;
  const format = outputFormats.find((known) => known === value);
  if (format) return format;
  const expected =
    outputFormats.length === 0
      ? `must be left out for ${id}, whose images come as it makes them`
      : `must be ${listed(outputFormats)}`;
  throw invalidRequest('output_format', `output_format ${expected}; got ${JSON.stringify(value)}`);
}

function oneOf<Value extends string>(
  name: string,
  value: string | null,
  { default: byDefault, allowed }: { readonly default: Value; readonly allowed: readonly Value[] },
): Value {
  if (isLeftOut(value)) return byDefault;
  const found = allowed.find((known) => known === value);
  if (found !== undefined) return found;
  throw invalidRequest(name, `${name} must be ${listed(allowed)}; got ${JSON.stringify(value)}`);
}

function isLeftOut(value: string | null): value is null {
  return value === null || value === auto;
}

function listed(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}
