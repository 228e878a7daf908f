// What keeps a database from being used, in words for the operator: it says what to check, and never shows a password.

export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}
