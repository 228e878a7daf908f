// Files that `scripts/build.mjs` made, with their compressed copies. Opens only names that the
// build made, so no path leads out of the folder.
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.ico': 'image/x-icon',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
};

/** Returns the type of a file by its ending, which must be one of the build's. */
export const mediaTypeOf = (name: string) => mediaTypes[extname(name)]!;

/** In order of preference, with the ending that the build adds to the file's name. */
const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** Headers of a file whose name changes with its content. */
export const assetHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Returns a folder that the build wrote beside the server. A server that runs from its sources
 * serves the newest build.
 */
export function builtFolder(name: 'dashboard' | 'docs'): string {
  return import.meta.url.endsWith('.ts')
    ? join(import.meta.dirname, '..', '..', 'dist', 'current', name)
    : join(import.meta.dirname, name);
}

/** Reads nothing before the first request, so that a start does not wait for it. */
export class BuiltFiles {
  readonly #folder: string;
  /** Kept, so that all answers share the bytes, however many are asked for at once. */
  readonly #contents = new Map<string, Promise<Buffer>>();
  #names: ReadonlySet<string> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `name`: a path from the folder, such as `guides/quick-start.html`. */
  has(name: string): boolean {
    this.#names ??= namesIn(this.#folder);
    return mediaTypes[extname(name)] !== undefined && this.#names.has(name);
  }

  /** Sends a file that the folder has, with its type and encoding. */
  async send(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const encoding = this.#encodingOf(name, request.headers['accept-encoding'] ?? '');
    const content = await this.#read(name + (encoding?.ending ?? ''));
    return reply
      .headers({
        'content-type': mediaTypeOf(name),
        vary: 'accept-encoding',
        ...(encoding && { 'content-encoding': encoding.name }),
      })
      .send(content);
  }

  /** Returns the text of a file that the folder has. */
  async text(name: string): Promise<string> {
    return (await this.#read(name)).toString();
  }

  #read(file: string): Promise<Buffer> {
    const known = this.#contents.get(file);
    if (known) return known;
    const reading = readFile(join(this.#folder, file));
    this.#contents.set(file, reading);
    reading.catch(() => this.#contents.delete(file));
    return reading;
  }

  #encodingOf(name: string, accepted: string) {
    return encodings.find(
      (encoding) => this.#names?.has(name + encoding.ending) && accepts(accepted, encoding.name),
    );
  }
}

/** Returns the best encoding that a client accepts; null when it accepts none of ours. */
export function acceptedEncoding(header = ''): 'br' | 'gzip' | null {
  return encodings.find(({ name }) => accepts(header, name))?.name ?? null;
}

/** Example: `gzip, br;q=0` refuses `br`. */
function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

function namesIn(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return new Set();
  }
}
