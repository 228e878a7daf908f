import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awsHost } from './aws-host.ts';

test('China and the European Sovereign Cloud have domains of their own', () => {
  for (const [region, domain] of [
    ['us-east-1', 'amazonaws.com'],
    ['us-gov-west-1', 'amazonaws.com'],
    ['cn-north-1', 'amazonaws.com.cn'],
    ['eusc-de-east-1', 'amazonaws.eu'],
  ])
    assert.equal(awsHost('s3', region!), `s3.${region}.${domain}`);
});
