// The response headers that carry the service's own name: `service.name` of the configuration, "Service" unless set.

export type HeaderNames = {
  readonly cost: string;
  readonly balance: string;
  readonly reserved: string;
  readonly outputLimit: string;
  readonly ignored: string;
  readonly mode: string;
};

export function headerNamesOf(serviceName: string): HeaderNames {
  const name = (suffix: string) => `X-${serviceName}-${suffix}`;
  return {
    cost: name('Cost-Micros'),
    balance: name('Balance-Cents'),
    reserved: name('Reserved-Micros'),
    outputLimit: name('Output-Limit'),
    ignored: name('Ignored'),
    mode: name('Mode'),
  };
}
