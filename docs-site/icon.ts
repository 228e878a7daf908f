// The icon that browsers ask for by `/favicon.ico`.
import sharp from 'sharp';

const side = 32;

/** Returns an icon file with one picture. https://en.wikipedia.org/wiki/ICO_(file_format) */
export async function iconFile(svg: Buffer): Promise<Buffer> {
  const png = await sharp(svg).resize(side, side).png().toBuffer();
  const header = Buffer.alloc(22);
  header.writeUInt16LE(1, 2); // an icon
  header.writeUInt16LE(1, 4); // one picture
  header.writeUInt8(side, 6);
  header.writeUInt8(side, 7);
  header.writeUInt16LE(1, 10); // one plane
  header.writeUInt16LE(32, 12); // bits of a pixel
  header.writeUInt32LE(png.length, 14);
  header.writeUInt32LE(header.length, 18);
  return Buffer.concat([header, png]);
}
