// Resolves where generated images are stored: the data folder, or a bucket with settings from the
// usual AWS variables. And how long charges are kept, and where the files of removed days go.
import { resolve } from 'node:path';
import { awsHost } from '../lib/aws-host.ts';
import type { Environment, FieldValues } from './field-values.ts';
import type { ConfigFile, RetentionConfig, StorageConfig } from './schema.ts';
import { webAddressProblem } from './web-address.ts';

type StorageEntry = ConfigFile['storage'];

const bucketFields = [
  'bucket',
  'region',
  'endpoint',
  'prefix',
  'path_style',
  'access_key_id',
  'secret_access_key',
  'session_token',
] as const;

/**
 * Throws ConfigError for incomplete bucket settings, and for a bucket's fields with `kind: local`.
 */
export function resolveStorage(values: FieldValues, env: Environment): StorageConfig {
  const { kind, keep_days, ...entry } = values.fields.storage;
  if (kind === 's3') return { kind, keep_days, ...bucketOf(values, entry, env) };
  const stray = bucketFields.find((name) => entry[name] !== undefined);
  if (stray === undefined) return { kind, keep_days };
  throw values.faultAt(['storage', stray], {
    problem: 'is for `kind: s3` only',
    remedy: 'Write `kind: s3` beside it, or leave it out to keep images in the data folder.',
  });
}

type BucketConfig = Omit<Extract<StorageConfig, { kind: 's3' }>, 'kind' | 'keep_days'>;

function bucketOf(
  values: FieldValues,
  entry: Omit<StorageEntry, 'kind' | 'keep_days'>,
  env: Environment,
): BucketConfig {
  const region = entry.region ?? (env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1');
  return {
    bucket: entry.bucket ?? missing(values, 'bucket', 'the name of the bucket'),
    region,
    endpoint: endpointOf(values, entry.endpoint) ?? `https://${awsHost('s3', region)}`,
    prefix: entry.prefix ?? 'tollgate/images/',
    path_style: entry.path_style ?? entry.endpoint !== undefined,
    ...credentialsOf(values, entry, env),
  };
}

function endpointOf({ faultAt }: FieldValues, endpoint: string | undefined): string | undefined {
  if (endpoint === undefined) return undefined;
  const pathProblem =
    'must have no path: the bucket goes into `storage.bucket`; got one with a path';
  const problem =
    webAddressProblem(endpoint) ?? (new URL(endpoint).pathname === '/' ? null : pathProblem);
  if (problem === null) return new URL(endpoint).origin;
  throw faultAt(['storage', 'endpoint'], {
    problem,
    remedy: 'Write the address of the service, such as `https://s3.example.com`.',
  });
}

/**
 * Takes both from the file or both from the environment, so that a key never meets another key's
 * secret.
 */
function credentialsOf(
  values: FieldValues,
  entry: Omit<StorageEntry, 'kind' | 'keep_days'>,
  env: Environment,
): Pick<BucketConfig, 'access_key_id' | 'secret_access_key' | 'session_token'> {
  const isInFile = entry.access_key_id !== undefined || entry.secret_access_key !== undefined;
  const from = isInFile
    ? { key: entry.access_key_id, secret: entry.secret_access_key, token: entry.session_token }
    : {
        key: env['AWS_ACCESS_KEY_ID'],
        secret: env['AWS_SECRET_ACCESS_KEY'],
        token: env['AWS_SESSION_TOKEN'],
      };
  return {
    access_key_id:
      from.key ||
      missing(values, 'access_key_id', 'the id of an access key, here or in AWS_ACCESS_KEY_ID'),
    secret_access_key:
      from.secret ||
      missing(values, 'secret_access_key', 'the access key, here or in AWS_SECRET_ACCESS_KEY'),
    session_token: from.token || null,
  };
}

function missing(
  { faultAt }: FieldValues,
  field: (typeof bucketFields)[number],
  what: string,
): never {
  throw faultAt(['storage', field], {
    problem: `is required with \`kind: s3\`: ${what}`,
    remedy: 'Write it, or `kind: local` to keep images in the data folder.',
  });
}

/** Throws ConfigError when charges shall be removed without an export. */
export function resolveRetention(
  { fields, faultAt }: FieldValues,
  cwd: string,
): RetentionConfig | null {
  const { charges_days: chargesDays, export_folder: folder } = fields.retention;
  if (chargesDays === null) return null;
  if (folder !== null) return { charges_days: chargesDays, export_folder: resolve(cwd, folder) };
  throw faultAt(['retention', 'export_folder'], {
    problem: 'is missing: charges are removed only after their export to a file',
    remedy: 'Write the folder for the files, or leave `charges_days` out to keep all charges.',
  });
}
