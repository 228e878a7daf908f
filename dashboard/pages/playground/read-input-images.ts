import type { InputImage } from './image-request.ts';

/** What the gateway takes in one body has to hold all of them, a third longer for being text. */
const bytesMax = 8 * 1024 * 1024;

/** Files of the user's as data URLs. Throws with what is wrong, for the user. */
export async function readInputImages(files: readonly File[]): Promise<readonly InputImage[]> {
  const large = files.find(({ size }) => size > bytesMax);
  if (large) throw new Error(`${large.name} is larger than 8 MB. Choose a smaller picture.`);
  return Promise.all(files.map(async (file) => ({ name: file.name, url: await dataUrlOf(file) })));
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`, { cause: reader.error })));
    reader.readAsDataURL(file);
  });
}
