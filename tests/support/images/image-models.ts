// Image models for tests: one for each way to give a size, one that edits, one that takes
// references.
import type { ImageModel } from '../../../src/terms/image-model.ts';

const common = {
  displayName: 'X',
  ownedBy: 'x',
  createdAtSeconds: 0,
  retirement: null,
  mode: 'text-to-image',
  inputImages: { min: 0, max: 0 },
  promptCharactersMax: 50,
  countMax: 10,
  routes: [],
  price: null,
} as const;

export const sized: ImageModel = {
  ...common,
  id: 'sized',
  family: 'gpt-image',
  parameters: {
    kind: 'size',
    size: {
      default: { width: 1_024, height: 1_024 },
      multipleOf: 16,
      sideMin: 64,
      sideMax: 3_840,
      pixelsMax: 3_840 * 2_160,
      aspectMax: 3,
    },
    quality: { default: 'medium', allowed: ['low', 'medium', 'high'] },
    outputFormats: ['png', 'jpeg', 'webp'],
  },
};

export const shaped: ImageModel = {
  ...common,
  id: 'shaped',
  family: 'nano-banana',
  parameters: {
    kind: 'shape',
    aspectRatio: { default: '1:1', allowed: ['1:1', '16:9'] },
    resolution: { default: '1k', allowed: ['1k', '2k', '4k'] },
    outputFormats: [],
  },
};

export const editing: ImageModel = {
  ...sized,
  id: 'editing',
  mode: 'edit',
  inputImages: { min: 1, max: 1 },
};
export const referring: ImageModel = {
  ...sized,
  id: 'referring',
  mode: 'reference',
  inputImages: { min: 1, max: 3 },
};
