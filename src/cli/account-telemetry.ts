// `tollgate accounts telemetry`: an account's export of its own traces.
import { readFileSync } from 'node:fs';
import { receiverHosts } from '../domain/telemetry/accounts/address.ts';
import type { Headers } from '../domain/telemetry/accounts/headers.ts';
import { readResults } from '../domain/telemetry/accounts/results.ts';
import { readExportSettings } from '../domain/telemetry/accounts/settings.ts';
import { isObject, parseJson } from '../lib/json.ts';
import { changeAccountTelemetry } from '../management/changes/account-telemetry.ts';
import { requireAccount } from '../management/changes/accounts.ts';
import type { Installation } from './installation.ts';
import { CommandFailed, type Output } from './output.ts';
import { none, type OrNone } from './parse.ts';

type TelemetryOptions = {
  readonly endpoint?: OrNone<string>;
  readonly headersFile?: string;
  readonly sampling?: number;
  /** `false`: `--no-content` was given. */
  readonly content: boolean;
};

/** Without an option it changes nothing, and shows the settings. */
export async function accountTelemetryCommand(
  { config, database, secrets, changes }: Installation,
  accountId: string,
  { endpoint, headersFile, sampling, content }: TelemetryOptions,
): Promise<Output> {
  const change = {
    endpoint: endpoint === none ? null : endpoint,
    headers: headersFile === undefined ? undefined : readHeaders(headersFile),
    samplingRatio: sampling,
    includeContent: content ? undefined : false,
  };
  await requireAccount(database.read, accountId);
  if (Object.values(change).some((value) => value !== undefined)) {
    const hosts = receiverHosts(config.telemetry.allowed_hosts);
    await changeAccountTelemetry(changes, { accountId, change, secrets, hosts, isOwner: false });
  }
  const settings = await readExportSettings(database.read, accountId);
  const shown = { ...settings, ...(await readResults(database.read, accountId)) };
  return [shown, describe(shown)];
}

function readHeaders(file: string): Headers {
  const parsed = parseJson(readFileSync(file), { depthMax: 2 });
  const headers = parsed.ok && isObject(parsed.value) ? parsed.value : null;
  if (headers && Object.values(headers).every((value) => typeof value === 'string'))
    return headers as Headers;
  throw new CommandFailed(`${file} must be a JSON object like { "authorization": "Bearer …" }`);
}

type Shown = Awaited<ReturnType<typeof readExportSettings>> &
  Awaited<ReturnType<typeof readResults>>;

function describe(shown: Shown): string {
  if (shown.endpoint === null) return 'Exports no traces of its own.';
  const { endpoint, header_names: names, sampling_ratio: ratio } = shown;
  return [
    `Exports its traces to ${endpoint}`,
    `Headers: ${names.length === 0 ? 'none' : names.join(', ')}`,
    `Sampling: ${ratio}`,
    `Prompts and answers: ${shown.include_content ? 'exported' : 'not exported'}`,
    `Spans: ${shown.sent_spans} sent, ${shown.dropped_spans} dropped`,
    `Last success: ${shown.last_success_at ?? 'none'}`,
    ...(shown.last_problem === null
      ? []
      : [`Last problem: ${shown.last_problem} (${shown.last_problem_at})`]),
  ].join('\n');
}
