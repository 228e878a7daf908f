// The alert rules, run by Prometheus's own tool.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { skipWithoutPrometheus } from '../../support/prometheus.ts';

const root = join(import.meta.dirname, '..', '..', '..');

test(
  'the alert rules are valid, fire when they should and are quiet otherwise',
  { skip: skipWithoutPrometheus },
  () => {
    const promtool = (...args: string[]) =>
      execFileSync('promtool', args, { encoding: 'utf8', cwd: root });
    const folder = 'tests/volume/prometheus';
    assert.match(promtool('check', 'rules', 'deploy/prometheus/alerts.yml'), /SUCCESS/);
    const tested = promtool(
      'test',
      'rules',
      `${folder}/alerts.test.yml`,
      `${folder}/slow-alerts.test.yml`,
    );
    assert.equal(tested.match(/SUCCESS/g)?.length, 2);
  },
);
