// The header of a WAV file. https://www.rfc-editor.org/rfc/rfc2361

const headerBytes = 44;
const bytesPerSample = 2;

/**
 * Returns the header of PCM of 16 bits, little-endian, one channel. `rate`: samples a second.
 */
export function wavHeader(pcmBytes: number, rate: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(headerBytes - 8 + pcmBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  // PCM, and one channel.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * bytesPerSample, 28);
  header.writeUInt16LE(bytesPerSample, 32);
  header.writeUInt16LE(8 * bytesPerSample, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(pcmBytes, 40);
  return header;
}
