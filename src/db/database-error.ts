// Thrown when a database cannot be used. The message tells the operator what to check, and never
// contains a password.

export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}
