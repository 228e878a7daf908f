// Small choices that this browser remembers. Where storage is forbidden, nothing is remembered.
const prefix = 'tollgate.';

export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(prefix + name);
  } catch {
    return null;
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // The choice then lasts as long as the page.
  }
}
