// A panel of text that fills the given room. It is drawn at one pixel a dot and enlarged
// afterwards, so that a picture of any size costs the event loop at most a few hundred thousand
// dots.
import { cutText, forEachDot, layOutText, type TextBlock, toAscii } from './bitmap-text.ts';

/** RGBA, one pixel for each dot; each is enlarged to `scale` pixels. */
type TextLayer = {
  readonly pixels: Buffer;
  readonly width: number;
  readonly height: number;
  readonly scale: number;
};

/** In pixels of the picture. */
export type Room = { readonly width: number; readonly height: number };

const paddingDots = 6;
const panelColour = 0x0b1020a8;
const textColour = 0xffffffff;
/** Longer text would be unreadable and is not laid out. */
const charactersMax = 8_000;
/** The dots of a full line at the largest scale, which limits the letters' size. */
const titleDots = 72;

/** Returns null when not even one letter fits. */
export function writeTextLayer(prompt: string, room: Room): TextLayer | null {
  const text = toAscii(prompt);
  const cut = text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}...`;
  const largest = Math.max(1, Math.floor(Math.min(room.width, room.height * 1.6) / titleDots));
  // Smaller letters are unreadable when the whole picture is viewed.
  const smallest = Math.max(1, Math.floor(Math.min(room.width, room.height) / 400));
  for (let scale = largest; scale > smallest; scale--) {
    const block = layOutText(cut, dotsWithin(room, scale).width);
    if (block.height <= dotsWithin(room, scale).height) return paint(block, scale);
  }
  const dots = dotsWithin(room, smallest);
  if (dots.width < 20 || dots.height < 9) return null;
  return paint(cutText(layOutText(cut, dots.width), dots), smallest);
}

function dotsWithin(room: Room, scale: number): Room {
  return {
    width: Math.floor(room.width / scale) - 2 * paddingDots,
    height: Math.floor(room.height / scale) - 2 * paddingDots,
  };
}

function paint(block: TextBlock, scale: number): TextLayer {
  const width = block.width + 2 * paddingDots;
  const height = block.height + 2 * paddingDots;
  const pixels = Buffer.alloc(width * height * 4);
  for (let dot = 0; dot < width * height; dot++) pixels.writeUInt32BE(panelColour, dot * 4);
  for (const corner of [0, width - 1, (height - 1) * width, height * width - 1])
    pixels.writeUInt32BE(0, corner * 4);
  forEachDot(block, (x, y) =>
    pixels.writeUInt32BE(textColour, ((y + paddingDots) * width + x + paddingDots) * 4),
  );
  return { pixels, width, height, scale };
}
