// Image model families as the catalogue defines them: accepted parameters and limits.
import type {
  ImageFormat,
  ImageMode,
  ImageModel,
  ImageParameters,
  ImageQuality,
  ImageResolution,
  ImageTier,
  PixelSize,
} from '../../terms/image-model.ts';

export type FamilyEntry = {
  readonly prompt_characters_max: number;
  readonly images_max: number;
  readonly input_images_max: number;
  readonly per_megapixel: boolean;
  readonly output_formats: readonly ImageFormat[];
  /** Either this and `quality`, or `aspect_ratio` and `resolution`. */
  readonly size?: {
    readonly default: string;
    readonly multiple_of: number;
    readonly side_min: number;
    readonly side_max: number;
    readonly pixels_max: number;
    readonly aspect_max: number;
  };
  readonly quality?: { readonly default: ImageQuality; readonly allowed: readonly ImageQuality[] };
  readonly aspect_ratio?: { readonly default: string; readonly allowed: readonly string[] };
  readonly resolution?: {
    readonly default: ImageResolution;
    readonly allowed: readonly ImageResolution[];
  };
};

export function readParameters({
  output_formats: outputFormats,
  ...family
}: FamilyEntry): ImageParameters {
  const { size, quality, aspect_ratio: aspectRatio, resolution } = family;
  if (size && quality) return { kind: 'size', size: readSizeRule(size), quality, outputFormats };
  if (aspectRatio && resolution) return { kind: 'shape', aspectRatio, resolution, outputFormats };
  throw new Error(
    'a family of image models has neither size and quality nor aspect_ratio and resolution',
  );
}

export function tiersOf({ quality, resolution }: FamilyEntry): readonly ImageTier[] {
  return quality?.allowed ?? resolution?.allowed ?? [];
}

/** Returns the allowed numbers of input images. An edit always has exactly one. */
export function readInputImages(mode: ImageMode, max: number): ImageModel['inputImages'] {
  switch (mode) {
    case 'text-to-image':
      return { min: 0, max: 0 };
    case 'edit':
      return { min: 1, max: 1 };
    case 'reference':
      return { min: 1, max };
  }
}

function readSizeRule(size: NonNullable<FamilyEntry['size']>) {
  return {
    default: readSize(size.default),
    multipleOf: size.multiple_of,
    sideMin: size.side_min,
    sideMax: size.side_max,
    pixelsMax: size.pixels_max,
    aspectMax: size.aspect_max,
  };
}

function readSize(text: string): PixelSize {
  const [width, height] = text.split('x').map(Number);
  return { width: width!, height: height! };
}
