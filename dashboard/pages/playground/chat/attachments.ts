// Reads the user's files into attachments of a message.
import type { Attachment } from '../../../api/chat-formats/types.ts';

/** All files of a request must fit into its body, where base64 makes them a third longer. */
const fileBytesMax = 8 * 1024 * 1024;
const messageBytesMax = 16 * 1024 * 1024;

const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const textEndings =
  /\.(?:txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|css|jsx?|tsx?|mjs|py|go|rs|java|kt|c|h|cpp|cs|rb|php|sh|sql|log|ini|conf)$/i;

/** For a file dialog. */
export const acceptedFiles = [...imageTypes, 'application/pdf', 'text/*', 'application/json'].join(
  ',',
);

type FileFacts = Pick<File, 'name' | 'type' | 'size'>;

/** Returns null for a file that no model reads. */
export function kindOf({
  name,
  type,
}: Omit<FileFacts, 'size'>): Exclude<Attachment['kind'], 'link'> | null {
  if (imageTypes.includes(type)) return 'image';
  if (type === 'application/pdf') return 'pdf';
  return type.startsWith('text/') || type === 'application/json' || textEndings.test(name)
    ? 'text'
    : null;
}

/** Returns what is wrong with the files, for the user; null when they can be added. */
export function problemWith(files: readonly FileFacts[], bytesBefore: number): string | null {
  const unknown = files.find((file) => kindOf(file) === null);
  if (unknown)
    return `${unknown.name} is not an image (PNG, JPEG, WebP, GIF), a PDF or a text file.`;
  const large = files.find(({ size }) => size > fileBytesMax);
  if (large) return `${large.name} is larger than 8 MB. Choose a smaller file.`;
  const bytes = files.reduce((sum, { size }) => sum + size, bytesBefore);
  return bytes > messageBytesMax
    ? 'The files of a message may have 16 MB together. Remove one first.'
    : null;
}

/** Throws an error with a message for the user. */
export async function readAttachments(
  files: readonly File[],
  before: readonly Attachment[],
): Promise<readonly Attachment[]> {
  const problem = problemWith(
    files,
    before.reduce((sum, attachment) => sum + sizeOf(attachment), 0),
  );
  if (problem !== null) throw new Error(problem);
  return Promise.all(files.map(readAttachment));
}

/** Bytes of the file, about. */
export function sizeOf(attachment: Attachment): number {
  if (attachment.kind === 'link') return attachment.url.length;
  return attachment.kind === 'text' ? attachment.text.length : attachment.data.length * 0.75;
}

async function readAttachment(file: File): Promise<Attachment> {
  const { name, type } = file;
  const kind = kindOf(file)!;
  if (kind === 'text') return { kind, name, text: await file.text() };
  const url = await dataUrlOf(file);
  return { kind, name, mediaType: type, data: url.slice(url.indexOf(',') + 1) };
}

export function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () =>
      reject(new Error(`${file.name} could not be read.`, { cause: reader.error })),
    );
    reader.readAsDataURL(file);
  });
}
