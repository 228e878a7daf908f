// The names of the changes in the audit log. The dashboard has a sentence for each.

type Actions = {
  readonly account:
    | 'create'
    | 'update'
    | 'purge'
    | 'forgive-losses'
    | 'low-balance'
    | 'credit'
    | 'debit'
    | 'import'
    | 'telemetry'
    | 'read-requests'
    | 'read-bodies';
  readonly key:
    | 'create'
    | 'update'
    | 'rotate'
    | 'assign'
    | 'import'
    | 'disable'
    | 'enable'
    | 'revoke';
  readonly payment: 'receive' | 'refund' | 'dispute' | 'assign' | 'dismiss';
  readonly 'top-up': 'start';
  readonly 'auto-top-up': 'update' | 'start-card' | 'save-card' | 'remove-card' | 'pause';
  readonly member: 'join' | 'update' | 'remove' | 'leave' | 'budget';
  readonly invitation: 'create' | 'withdraw';
  readonly user:
    | 'sign-up'
    | 'first-run'
    | 'first-run-link'
    | 'reset-link'
    | 'password'
    | 'password-reset'
    | 'email'
    | 'verify-email'
    | 'update'
    | 'second-factor'
    | 'backup-codes'
    | 'passkey-add'
    | 'passkey-remove'
    | 'link-provider';
  readonly session: 'end' | 'end-others';
  readonly secret: 'rotate' | 'retire';
  readonly 'admin-key': 'create' | 'revoke';
  readonly backup: 'make';
  readonly database: 'move';
  readonly settings: 'update' | 'reload';
  readonly alert: 'create' | 'update' | 'remove' | 'send' | 'replace-secret';
  readonly 'own-key': 'create' | 'update' | 'remove';
  readonly batch: 'cancel';
};

/** The kinds of objects that changes are recorded for. The dashboard's filter has a label for each. */
export type AuditKind = keyof Actions;

type ActionOf<Kind extends AuditKind> = `${Kind}.${Actions[Kind]}`;

/** The kind of object and what happened to it, such as `key.update`. */
export type AuditAction = { [Kind in AuditKind]: ActionOf<Kind> }[AuditKind];
