// LiteLLM's proxy, from PyPI. It books spending in PostgreSQL, through Prisma, whose engine is
// downloaded from no registry; so it runs without a database and without books.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, installOnce, runCommand } from '../side-by-side/cache.ts';
import { freePort, startProgram } from '../side-by-side/program.ts';
import { chatRequest } from '../side-by-side/requests.ts';
import { peerPlays, type Peer } from '../side-by-side/peer.ts';

/** Later versions want a newer certifi than our registry has (2026-11). 1.107.0 was compromised. */
const version = '1.106.2';
const folder = `litellm-${version}`;
const key = 'sk-bench-litellm';

/**
 * Tokenizers that the package ships. one-api would download the same files at its start.
 */
export function tokenizerFolder(): string {
  const code =
    'import importlib.util as u; print(u.find_spec("litellm").submodule_search_locations[0])';
  const python = join(cacheFolder(folder), 'bin', 'python');
  return join(runCommand([python, '-c', code]).trim(), 'litellm_core_utils', 'tokenizers');
}

export const litellm: Peer = {
  name: 'litellm',
  features: {
    auth: 'one master key',
    billing: 'cost computed and sent as a header, not booked',
    log: 'errors only',
  },
  telemetry:
    'telemetry: false, DO_NOT_TRACK=1; LITELLM_LOCAL_MODEL_COST_MAP=True (no price list download)',
  install: () => {
    installOnce(folder, (target) => {
      runCommand(['python3', '-m', 'venv', target]);
      const pip = join(target, 'bin', 'pip');
      runCommand([pip, 'install', '--only-binary', ':all:', `litellm[proxy]==${version}`]);
    });
    const python = join(cacheFolder(folder), 'bin', 'python');
    const code = 'import importlib.metadata as m; print(m.version("litellm"))';
    return runCommand([python, '-c', code]).trim();
  },
  open: async ({ upstreamPort, upstreamKey, dataDir }) => {
    const port = await freePort();
    const config = {
      model_list: peerPlays.map((play) => ({
        model_name: play,
        litellm_params: {
          model: 'openai/upstream-model',
          api_base: `http://127.0.0.1:${upstreamPort}/${play}/v1`,
          api_key: upstreamKey,
          input_cost_per_token: 0.000_001_25,
          output_cost_per_token: 0.000_01,
        },
      })),
      general_settings: { master_key: key },
      litellm_settings: { telemetry: false },
    };
    const configPath = join(dataDir, 'config.yaml');
    writeFileSync(configPath, JSON.stringify(config));
    return {
      start: () =>
        startProgram({
          command: [
            join(cacheFolder(folder), 'bin', 'litellm'),
            `--config=${configPath}`,
            '--host=127.0.0.1',
            `--port=${port}`,
            '--num_workers=1',
            '--telemetry=False',
          ],
          env: {
            LITELLM_LOCAL_MODEL_COST_MAP: 'True',
            LITELLM_MODE: 'PRODUCTION',
            LITELLM_LOG: 'ERROR',
            LITELLM_TELEMETRY: 'False',
            DO_NOT_TRACK: '1',
          },
          folder: dataDir,
          port,
        }),
      requestFor: (play) => chatRequest(play, { model: play }),
      key,
      readBook: null,
    };
  },
};
