/**
 * Returns the host of a service in a region: `s3.eu-west-1.amazonaws.com`. China and the European
 * Sovereign Cloud have domains of their own.
 * https://docs.aws.amazon.com/general/latest/gr/rande.html
 */
export function awsHost(service: string, region: string): string {
  if (region.startsWith('cn-')) return `${service}.${region}.amazonaws.com.cn`;
  return `${service}.${region}.amazonaws.${region.startsWith('eusc-') ? 'eu' : 'com'}`;
}
