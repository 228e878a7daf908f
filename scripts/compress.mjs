// Writes compressed copies beside text files, ready to be sent.
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
/** Smaller files fit into one packet uncompressed. */
const compressedFromBytes = 1_400;

/** @param {string} path */
export async function compress(path) {
  const content = readFileSync(path);
  if (content.length < compressedFromBytes) return;
  // One level below the maximum: a quarter of the time for 3 % more bytes.
  const [brotli, gzipped] = await Promise.all([
    compressBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
    compressGzip(content, { level: 9 }),
  ]);
  writeFileSync(`${path}.br`, brotli);
  writeFileSync(`${path}.gz`, gzipped);
}
