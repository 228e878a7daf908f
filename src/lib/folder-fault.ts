// Says in words why files cannot be made in a folder.
import { statSync } from 'node:fs';

/**
 * Returns a sentence without its end, such as `the folder /srv/data does not exist`. Returns null
 * for an error that the folder did not cause.
 */
export function describeFolderFault(error: unknown, folder: string): string | null {
  switch ((error as NodeJS.ErrnoException | null)?.code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return isFile(folder)
        ? `${folder} is a file, not a folder`
        : `a part of the path ${folder} is a file, not a folder`;
    case 'ENOENT':
      return `the folder ${folder} does not exist`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not ${exists(folder) ? 'write in' : 'create'} the folder ${folder}`;
    case 'EROFS':
      return `the folder ${folder} is on a read-only file system`;
    default:
      return null;
  }
}

function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

function exists(path: string): boolean {
  return statOf(path) !== null;
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
