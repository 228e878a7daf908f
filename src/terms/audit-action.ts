// The names of the changes in the audit log.

/** The kinds of objects that changes are recorded for. The dashboard's filter has a label for each. */
export type AuditKind =
  | 'account'
  | 'key'
  | 'payment'
  | 'top-up'
  | 'member'
  | 'invitation'
  | 'user'
  | 'session'
  | 'secret'
  | 'admin-key'
  | 'backup'
  | 'database'
  | 'settings'
  | 'alert';

/** The kind of object and what happened to it, such as `key.update`. */
export type AuditAction = `${AuditKind}.${string}`;
