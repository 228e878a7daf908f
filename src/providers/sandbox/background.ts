// The background of a drawn picture: soft colours derived from the prompt, so that different
// prompts look different.
import { createHash } from 'node:crypto';

/** RGB of `side` × `side` pixels, for smooth enlargement. */
type Background = { readonly pixels: Buffer; readonly side: number };

const side = 4;

/** `seed`: the same text gives the same colours. */
export function makeBackground(seed: string): Background {
  const digest = createHash('sha256').update(seed).digest();
  const hue = (digest.readUInt16BE(0) / 0x1_00_00) * 360;
  const spread = 40 + (digest[2]! / 255) * 80;
  const pixels = Buffer.alloc(side * side * 3);
  for (let index = 0; index < side * side; index++) {
    const along = ((index % side) + Math.floor(index / side)) / (2 * side - 2);
    const noise = digest[3 + index]! / 255;
    pixels.set(
      rgbOf(hue + spread * (along + 0.4 * noise), 0.35 + 0.25 * noise + 0.15 * along),
      index * 3,
    );
  }
  return { pixels, side };
}

/**
 * At 62 % saturation, because full saturation is garish.
 * https://www.w3.org/TR/css-color-4/#hsl-to-rgb
 */
function rgbOf(hueDegrees: number, lightness: number): number[] {
  const amplitude = 0.62 * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((offset) => {
    const k = (offset + hueDegrees / 30) % 12;
    return Math.round(255 * (lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}
