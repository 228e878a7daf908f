// Thrown when a database cannot be used. The message tells the operator what to check, and never
// contains a password.

export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}

/** Thrown when a migration fails. `cause` is the database's own error. */
export class MigrationFailed extends Error {
  override readonly name = 'MigrationFailed';
}
