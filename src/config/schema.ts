// The schema of the whole configuration file: the single source of validation, defaults, the JSON
// Schema for editors (docs/config.schema.json) and the table in docs/configuration.md.
import { Type, type Static, type TProperties, type TSchema } from 'typebox';
import { closed, flag, integer, number, optional, orNull } from '../lib/schema-parts.ts';
import { providerKindNames } from '../terms/provider-kind.ts';
import { asFieldSchema, withDefaults } from './field-schema.ts';
import { ImageModelEntry } from './image-model-schema.ts';
import {
  ModelEntry,
  modelNamePattern,
  modelNames,
  passFields,
  ToolPrices,
  type DeepReadonly,
} from './model-schema.ts';
import { ProviderTimeouts } from './timeouts.ts';
import type { Tuning } from './tuning.ts';

/** A section may be left out: its fields have defaults. */
const section = <Fields extends TProperties>(fields: Fields) => closed(fields, { default: {} });
const named = { additionalProperties: false, default: {} } as const;
const byModelName = <Entry extends TSchema>(entry: Entry, description: string) =>
  Type.Record(Type.String({ pattern: modelNamePattern }), entry, {
    ...named,
    names: modelNames,
    description,
  });
const milliseconds = (value: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 86_400_000, default: value, description });

/** A value, or null for none. */
const nullable = <Schema extends TSchema>(
  schema: Schema,
  value: string | number | null,
  description: string,
) => Type.Union([schema, Type.Null()], { default: value, description });
const limitOf = (description: string, value: number | null = null) =>
  nullable(Type.Integer({ minimum: 1 }), value, `${description} \`null\`: no limit.`);

const Provider = closed({
  ...optional({
    kind: Type.Enum([...providerKindNames], {
      description:
        "`openai` speaks Responses and Chat Completions, `openai-compatible` Chat Completions, `anthropic` Messages, `google` Gemini, `cohere` Cohere's own Chat; `azure`, `bedrock` and `vertex` are clouds that run models of several vendors; `bfl` (Black Forest Labs) makes images; `brave`, `tavily`, `serper`, `exa` and `searxng` search the web. Optional for a known provider.",
    }),
    base_url: Type.String({
      minLength: 1,
      description:
        "The address of the provider's API: with the version (`/v1`) for the two openai kinds and `bfl`, without it for `anthropic`, `google` and `cohere`. Optional for a known provider other than `searxng`.",
    }),
    api_key: Type.String({
      minLength: 1,
      writeOnly: true,
      description:
        "The operator's key at the provider. `none`: no authentication header. `${VARIABLE}` in the file: from the environment; if that is unset, the provider is off. Default for a known provider: its usual variable. Clouds also take other credentials ([clouds.md](clouds.md)), and `ambient`: that of the machine.",
    }),
    region: Type.String({
      pattern: '^[a-z]{2,}(?:-[a-z0-9]+)*$',
      shape: 'the name of a region, such as europe-west1',
      maxLength: 40,
      description:
        "The region of a cloud, part of its address: `us-east-1` for `bedrock`; `global`, `eu` or `europe-west1` for `vertex`. Default: the cloud's usual variable.",
    }),
    project: Type.String({
      pattern: '^[a-z0-9][a-z0-9.:-]*$',
      shape: 'the id of a project',
      maxLength: 100,
      description: 'The Google Cloud project of `vertex`. Default: `GOOGLE_CLOUD_PROJECT`.',
    }),
    api_version: Type.String({
      pattern: '^[0-9a-z-]+$',
      shape: 'a version, such as 2024-10-21',
      maxLength: 40,
      description:
        "For `azure`: the version of its classic addresses, `/openai/deployments/…`. Default: Azure's v1 addresses, which have none.",
    }),
    batch_bucket: Type.String({
      pattern: '^(?:s3|gs)://[a-z0-9][a-z0-9._-]{1,61}[a-z0-9](?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$',
      shape: 'a bucket, perhaps with a folder, such as s3://my-bucket/batches',
      maxLength: 300,
      description:
        'For `bedrock` (`s3://…`) and `vertex` (`gs://…`): a bucket, perhaps with a folder, for the requests and results of batches, which are deleted when they were read. With it, lines of batches go to the batch API of the cloud, if `prices.batch` is known ([clouds.md](clouds.md#batches-on-bedrock-and-vertex-ai)). Default: none, and they run one by one.',
    }),
    batch_role: Type.String({
      pattern: '^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@/_-]+$',
      shape: 'the ARN of a role, such as arn:aws:iam::123456789012:role/batches',
      maxLength: 2_048,
      description:
        'For `bedrock`: the ARN of the role with which Bedrock reads and writes `batch_bucket`, which needs it.',
    }),
  }),
  enabled: flag('`false` switches the provider off, even with a key.', true),
  credential_of: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Another provider of which this is a further credential: it has its kind, address, settings and models, and a name, an `api_key`, a weight and a limit of its own. Its reports and circuit breakers are its own too.',
    }),
  ),
  weight: number(
    'The share of the load beside the other credentials of the provider: conversations keep to one, for its prompt cache.',
    { minimum: 0.001, maximum: 1_000, default: 1 },
  ),
  requests_per_minute: limitOf(
    'Calls a minute with this credential, by all gateways together. Beyond it, other credentials and routes are called; if there is none, this one all the same.',
  ),
  timeouts: ProviderTimeouts,
  tool_prices: Type.Optional(ToolPrices),
  pass_fields: Type.Optional(
    passFields(
      'Unknown request fields that may be sent to the provider: paths without list indexes, such as `custom_sampler` or `messages.content.hologram`. The last also allows the kind of content of that name. You are responsible for what a field does to the price. Fields that are refused by name stay refused.',
    ),
  ),
  accounts_may_bring_keys: flag(
    'Accounts may save keys of their own for this provider, which are called beside yours, at its address ([own-keys.md](own-keys.md)). For models and images. Not for a further credential.',
    false,
  ),
  completions: flag(
    'The host has `/completions` below its address and continues prompts, as vLLM does. Default for known providers that have it: used without this.',
    false,
  ),
  cache_salt: flag(
    'Sends `cache_salt`, which vLLM supports: each account then has its own prompt cache there, and no other account can measure it.',
    false,
  ),
});

/** Hosts. `usualPorts`: those that need not be written. */
const hostsBeside = (usualPorts: string, description: string) =>
  Type.Array(
    Type.String({
      pattern: '^(?:\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(?::\\d{1,5})?$',
      shape: 'a host, or a host and its port',
      description: `A host, or \`host:port\` for a port other than ${usualPorts}.`,
    }),
    { maxItems: 100, default: [], description },
  );
/** Characters that are valid in a header. */
const visible = {
  pattern: '^[\\x21-\\x7e]+$',
  shape: 'visible ASCII characters without spaces',
} as const;

export const ConfigFile = closed({
  service: section({
    name: Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9-]{0,39}$',
      shape: 'letters, digits and hyphens, beginning with a letter, at most 40',
      default: 'Service',
      description:
        "The service's name in header names: `X-<name>-Cost-Micros`, `X-<name>-Balance-Cents`.",
    }),
  }),
  server: section({
    host: Type.String({
      pattern: '^\\S+$',
      shape: 'an address without spaces',
      default: '127.0.0.1',
      description: 'The address to listen on; `0.0.0.0` or `::` for all.',
    }),
    port: integer('The TCP port; 0 picks a free one.', {
      minimum: 0,
      maximum: 65_535,
      default: 4_000,
    }),
    threads: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 1, maximum: 64 })], {
      default: 'auto',
      description:
        'Threads that serve HTTP, each on a core of its own; together they behave like one gateway. `auto`: one for each core of the process, at most 8; outside Linux one, because several need its `SO_REUSEPORT`.',
    }),
    public_url: nullable(
      Type.String({ minLength: 1 }),
      null,
      'The address that clients use, if it differs from the one listened on: behind a proxy or a domain name.',
    ),
    trust_proxy: Type.Union(
      [
        Type.Boolean(),
        Type.Integer({ minimum: 1, maximum: 32 }),
        Type.Array(Type.String({ minLength: 1 })),
      ],
      {
        default: false,
        description:
          "Which proxies' `X-Forwarded-*` headers are trusted: the number of proxies in front, or a list of their addresses and CIDR ranges. `true` trusts anybody: use it only behind a proxy that overwrites the client's headers.",
      },
    ),
    cors_origins: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        "The origins of web pages and apps whose scripts may call the API (`https://app.example.com`, `app://obsidian.md`), or `*` for all. None: no script of another origin can read a response. The dashboard's API is never open to other origins.",
    }),
    body_limit_bytes: integer('The largest request body; a larger one is a 413.', {
      minimum: 1_024,
      maximum: 1_073_741_824,
      default: 33_554_432,
    }),
    arrival_timeout_ms: milliseconds(
      60_000,
      'How long a request may take to arrive, including its body. A slower client gets a 408.',
    ),
    shutdown_timeout_ms: milliseconds(
      30_000,
      'How long open requests may continue after SIGTERM before they are ended, free of charge.',
    ),
    shutdown_delay_ms: integer(
      'How long requests are still accepted after SIGTERM, while `/readyz` already fails, so that a load balancer notices before the port closes. Part of `shutdown_timeout_ms`; skipped if nobody has asked `/readyz` for a minute.',
      { minimum: 0, maximum: 3_600_000, default: 5_000 },
    ),
  }),
  overload: section({
    lag_ms: nullable(
      Type.Integer({ minimum: 1, maximum: 60_000 }),
      500,
      'How late the event loop may be, five measurements in a row, before new charged requests are refused with a 503 until it has caught up. `null`: no limit.',
    ),
    memory_bytes: nullable(
      Type.Integer({ minimum: 67_108_864 }),
      null,
      'The memory of the process above which new charged requests are refused with a 503. `null`: 85 % of the memory of the machine or container. They are always refused at 85 % of the heap limit of Node.',
    ),
  }),
  database: section({
    url: Type.Optional(
      Type.String({
        minLength: 1,
        writeOnly: true,
        description:
          'The database: `sqlite:<path of the file>`, or `postgres://user:password@host/database` for one or more gateways, which then need `TOLLGATE_SECRET`. Default: `tollgate.db` in the data folder.',
      }),
    ),
  }),
  test_mode: section({
    enabled: flag(
      'Allows test keys, which spend play money and are answered by the built-in sandbox.',
      true,
    ),
  }),
  log: section({
    level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      default: 'info',
      description: 'The lowest level that is logged.',
    }),
  }),
  metrics: section({
    token: Type.Optional(
      Type.String({
        minLength: 16,
        writeOnly: true,
        description:
          'Gives access to `GET /metrics` (Prometheus) and the details of `GET /readyz`, as `Authorization: Bearer`. Default: there are no metrics, and readiness is only a status.',
      }),
    ),
  }),
  telemetry: section({
    endpoint: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The address of a receiver of OpenTelemetry over HTTP: `http://collector:4318`; `/v1/traces` and `/v1/metrics` are added. `OTEL_EXPORTER_OTLP_ENDPOINT` goes before it. Default: nothing is exported ([telemetry.md](telemetry.md)).',
      }),
    ),
    headers: Type.Record(
      Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' }),
      Type.String({
        pattern: '^[\\x20-\\x7e]{0,4096}$',
        shape: 'printable ASCII characters, at most 4096',
        description: 'The value of the header.',
      }),
      {
        ...named,
        names: 'letters, digits, hyphens and underscores, at most 100',
        writeOnly: true,
        description: "Headers of each export, for the receiver's key.",
      },
    ),
    allowed_hosts: hostsBeside(
      '443 and 4318',
      'Hosts outside the public internet that accounts may export their own traces to, also without TLS. Admins of any account can then make the gateway send them a POST for any path: list only hosts where that is harmless.',
    ),
  }),
  alerts: section({
    allowed_hosts: hostsBeside(
      '443 and 8443',
      'Hosts outside the public internet that accounts may send their webhooks to, also without TLS. Owners of any account can then make the gateway send them a POST for any path: list only hosts where that is harmless.',
    ),
  }),
  signup: section({
    open: flag(
      "Lets anybody create an account in the dashboard. `false`: users need an invitation or an operator's link.",
      false,
    ),
    initial_credit_usd: number(
      'USD credited once to an account created by sign-up; with `smtp`, when its e-mail address is confirmed. Six decimals.',
      { minimum: 0, maximum: 1_000_000, default: 0 },
    ),
  }),
  ...optional({
    smtp: closed(
      {
        url: Type.String({
          minLength: 1,
          writeOnly: true,
          description:
            'The mail server: `smtp://user:password@host:587`, which switches to TLS, or `smtps://user:password@host:465`. Percent-encode special characters in the password (`%40`).',
        }),
        from: Type.String({
          pattern: '^[^\\r\\n]*[^\\s@<>]@[^\\s@<>]+>?$',
          shape: 'an e-mail address, perhaps with a name: `Tollgate <no-reply@example.com>`',
          description: 'The From header: `Tollgate <no-reply@example.com>`.',
        }),
      },
      {
        description:
          'The mail server for invitations, password resets and warnings. Default: none; the dashboard shows the links instead, to be handed over.',
      },
    ),
    oidc: closed(
      {
        issuer: Type.String({
          minLength: 1,
          description:
            'The address of the OpenID Connect provider, without `/.well-known/openid-configuration`: `https://accounts.google.com`.',
        }),
        client_id: Type.String({
          ...visible,
          description: "From the provider's registration of this gateway.",
        }),
        client_secret: Type.String({
          ...visible,
          writeOnly: true,
          description: "From the provider's registration of this gateway.",
        }),
        name: Type.String({
          minLength: 1,
          maxLength: 40,
          default: 'single sign-on',
          description: 'The text of the button after "Continue with".',
        }),
        scopes: Type.Array(
          Type.String({
            pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$',
            shape: 'visible ASCII characters without spaces, quotes and backslashes',
          }),
          {
            default: ['openid', 'email', 'profile'],
            description:
              'The scopes to request. The provider must return `email` and, without `trust_email`, `email_verified`.',
          },
        ),
        trust_email: Type.Boolean({
          default: false,
          description:
            'Addresses without `email_verified` count as verified. Only for a provider at which nobody chooses an address freely, such as one tenant of Microsoft Entra ID, which never sends it ([sign-in.md](sign-in.md#single-sign-on)).',
        }),
      },
      {
        description:
          'An OpenID Connect provider for sign-in. Register `<server.public_url>/dashboard-api/auth/callback/oidc` there as the redirect address.',
      },
    ),
  }),
  limits: section({
    chat_max_tokens: nullable(
      Type.Integer({ minimum: 1 }),
      2_048,
      "The largest `max_tokens` in Chat Completions. `null`: only the model's own limit.",
    ),
    unknown_fields: Type.Union([Type.Literal('drop'), Type.Literal('refuse')], {
      default: 'drop',
      description:
        'Request fields that nobody knows, except those in `pass_fields`. `drop`: left out and listed in `X-<name>-Ignored`. `refuse`: answered with a 400.',
    }),
    requests_per_minute: limitOf('Requests a minute of a key without its own limit.', 600),
    tokens_per_minute: limitOf(
      'Tokens a minute, input and output, of a key without its own limit.',
    ),
    concurrent_requests: limitOf('Requests at once of a key without its own limit.'),
    account_requests_per_minute: limitOf(
      'Requests a minute of all keys of an account without its own limit; live and test keys count separately.',
    ),
    account_tokens_per_minute: limitOf('Tokens a minute of all keys of such an account.'),
    account_concurrent_requests: limitOf('Requests at once of all keys of such an account.'),
    unpaid_concurrent_requests: nullable(
      Type.Integer({ minimum: 1 }),
      4,
      "Requests at once of all live keys of such an account before it has paid: before its first top-up or operator's credit (a sign-up credit does not count). `null`: only the limit above.",
    ),
    loss_budget_usd: nullable(
      Type.Number({ minimum: 0, maximum: 1_000_000 }),
      1,
      'The losses that an account may cause in 30 days (answers that cannot be passed on or are too long for their time, costs beyond its balance and caps), in USD; or a twentieth of what it was charged in these days, if that is more. Beyond it, its new live requests are refused. `null`: no limit.',
    ),
    free_bytes_per_day: integer(
      'How many bytes of free answers (of test keys and from the cache) each gateway stores for an account in a UTC day: responses after compression, for retries with the same `Idempotency-Key`, and images that are answered with a link. Of further responses, only the outcome is stored. Further images are refused, except as `b64_json`.',
      { minimum: 0, maximum: 1_099_511_627_776, default: 268_435_456 },
    ),
    batch_lines_per_day: integer(
      'How many lines an account may put into batches in 24 hours. 0: no batches.',
      { minimum: 0, maximum: 100_000_000, default: 200_000 },
    ),
    batch_bytes_per_day: integer(
      'How many bytes an account may put into batches in 24 hours, and as many again into files for them. They are stored, encrypted, in the database.',
      { minimum: 0, maximum: 1_099_511_627_776, default: 1_073_741_824 },
    ),
    failed_keys_per_minute: nullable(
      Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      20,
      'Wrong API keys a minute from one address (IPv6: one /64); further ones are refused without a look-up. Right keys still work. `null`: no limit.',
    ),
    hold_slice_tokens: integer(
      'How many output tokens of a stream are held for at a time. The hold grows with the answer; if it cannot grow, the answer ends as at its length limit. The first hold is for 1,024 tokens at least.',
      { minimum: 256, maximum: 100_000_000, default: 4_096 },
    ),
    default_max_output_tokens: integer(
      "The output limit of a request without one, if the model allows as much. It bounds the request's hold.",
      { minimum: 1, maximum: 100_000_000, default: 32_768 },
    ),
  }),
  idempotency: section({
    file_bytes_per_day: integer(
      'How many bytes of longer responses each gateway stores as files for an account in a UTC day. Of further ones, only the outcome is stored.',
      { minimum: 0, maximum: 1_099_511_627_776, default: 1_073_741_824 },
    ),
  }),
  cache: section({
    enabled: flag(
      'Answers identical requests of an account from the cache. `false`: nothing is read from or written to the cache.',
      true,
    ),
    embeddings: flag(
      'Answers embeddings from the cache unless a header says otherwise, because the same text has the same vector. `false`: only if a header asks for it.',
      true,
    ),
    disk_bytes: integer(
      'The size of the cache in the database; beyond it, the oldest responses are deleted first.',
      { minimum: 65_536, maximum: 1_099_511_627_776, default: 1_073_741_824 },
    ),
  }),
  history: section({
    days: integer(
      'How many days the details of requests are kept for their account: failed and cached requests, the reason of a failure, calls to providers, the address and the program of the client. 0: none are written. Charges do not depend on it.',
      { minimum: 0, maximum: 90, default: 30 },
    ),
  }),
  bodies: section({
    enabled: flag(
      'Lets accounts keep the bodies of requests and answers, for keys that ask for it. `false`: none are kept or shown.',
      true,
    ),
    days_max: integer('The most days that a key may keep them.', {
      minimum: 1,
      maximum: 30,
      default: 7,
    }),
    disk_bytes: integer(
      'The size of all kept bodies in the database; beyond it, the oldest are deleted first.',
      { minimum: 65_536, maximum: 1_099_511_627_776, default: 1_073_741_824 },
    ),
  }),
  tags: section({
    end_users: flag(
      'Counts the end user that a request names (`user`, `safety_identifier`, `metadata.user_id`) as its tag `user`. The names are stored with the charges and their daily sums.',
      false,
    ),
  }),
  retries: section({
    max_attempts: integer(
      'The most upstream calls of a request with its retries, over all routes of its model. 1: no retries. Each route is asked once in any case.',
      { minimum: 1, maximum: 20, default: 4 },
    ),
  }),
  retention: section({
    charges_days: nullable(
      Type.Integer({ minimum: 35, maximum: 36_500 }),
      null,
      'How many days charges are kept in the database; `null` for ever. Older ones are exported to files and removed, so usage lists end there. Balances, entries and sums by day are kept for good ([operations.md](operations.md#old-charges)).',
    ),
    export_folder: nullable(
      Type.String({ minLength: 1 }),
      null,
      'The folder for the files of removed days, required with `charges_days`. Several gateways need one folder that all of them reach. A relative path starts at the working directory.',
    ),
  }),
  storage: section({
    kind: Type.Enum(['local', 's3'], {
      default: 'local',
      description:
        'Where generated images are stored: `local`, in `images` in the data folder, or `s3`, in a bucket of any S3-compatible service, which several gateways can share.',
    }),
    keep_days: integer('How many days a generated image and its link work.', {
      minimum: 1,
      maximum: 365,
      default: 7,
    }),
    ...optional({
      bucket: Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$',
        shape:
          '3 to 255 letters, digits, dots, hyphens and underscores, with a letter or digit at both ends',
        description: 'The name of the bucket.',
      }),
      region: Type.String({
        pattern: '^[A-Za-z0-9-]{1,40}$',
        shape: 'letters, digits and hyphens, at most 40',
        description: "The bucket's region. Default: `AWS_REGION`, or `us-east-1`.",
      }),
      endpoint: Type.String({
        minLength: 1,
        description:
          'The address of a service other than AWS, without the bucket: `https://s3.example.com`.',
      }),
      prefix: Type.String({
        pattern: '^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*$',
        shape:
          'names of letters, digits, dots, hyphens and underscores, each with a slash after it',
        description:
          "The prefix of the images' object keys, with a slash at its end. Default: `tollgate/images/`.",
      }),
      path_style: flag(
        'Puts the bucket in the path (`host/bucket`) instead of before the host (`bucket.host`). Default: `true` with an `endpoint`, `false` without.',
      ),
      access_key_id: Type.String({
        ...visible,
        writeOnly: true,
        description:
          'The id of an access key that may list the bucket and get, put and delete objects under the prefix. Default: `AWS_ACCESS_KEY_ID`.',
      }),
      secret_access_key: Type.String({
        ...visible,
        writeOnly: true,
        description: "The access key's secret. Default: `AWS_SECRET_ACCESS_KEY`.",
      }),
      session_token: Type.String({
        ...visible,
        writeOnly: true,
        description:
          'The session token of temporary credentials. Default, if the key is left out too: `AWS_SESSION_TOKEN`.',
      }),
    }),
  }),
  images: section({
    allowed_hosts: hostsBeside(
      '80 and 443',
      'Hosts outside the public internet whose images may be fetched. Anyone with a key can then make the gateway send them a GET for any path: list only hosts where that is harmless.',
    ),
  }),
  pricing: section({
    markup: number(
      "Accounts pay the provider's price times this, unless a model states its own price. Six decimals.",
      { minimum: 0, maximum: 1_000, default: 1 },
    ),
    own_key_percent: number(
      'What an account pays for a request that ran with its own key at the provider, in per cent of what it would have paid otherwise. Four decimals.',
      { minimum: 0, maximum: 100, default: 5 },
    ),
    own_key_fee: number('USD for each such request, added to it. Six decimals.', {
      minimum: 0,
      maximum: 100,
      default: 0,
    }),
  }),
  billing: section({
    contact: nullable(
      Type.String({ minLength: 1, maxLength: 200 }),
      null,
      'Whom account owners ask for credit if they cannot top up themselves: an e-mail address, a web address or some words. `null`: the page names no contact.',
    ),
    seller: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 8,
      default: [],
      description:
        'Your name and address on receipts, line by line, with a tax number if you have one. Empty: `service.name`. Letters other than Western European ones are written in Latin letters.',
    }),
    receipt_note: nullable(
      Type.String({ minLength: 1, maxLength: 300 }),
      null,
      'A sentence at the end of every receipt, such as your tax line. No tax is computed. `null`: none.',
    ),
  }),
  stripe: section({
    ...optional({
      secret_key: Type.String({
        pattern: '^(?:sk|rk)_[A-Za-z0-9_]{8,}$',
        shape: 'a key that begins with `sk_` or `rk_`',
        writeOnly: true,
        description:
          'The secret or restricted key of the Stripe account that receives top-ups; it must be able to write Checkout Sessions, and for automatic top-ups PaymentIntents, SetupIntents, Customers and Payment Methods. Default: none; account owners cannot top up themselves.',
      }),
      webhook_secret: Type.String({
        ...visible,
        writeOnly: true,
        description:
          'The signing secret (`whsec_…`) of the webhook endpoint `<public_url>/webhooks/stripe`. Required with `secret_key`.',
      }),
    }),
    fee_percent: number(
      'A card fee on top of each top-up, in percent of the credit, with at most four decimals; rounded up to a whole cent. Shown before payment.',
      { minimum: 0, maximum: 50, default: 0 },
    ),
    fee_fixed_cents: integer('A fixed part of the card fee of each top-up, in US cents.', {
      minimum: 0,
      maximum: 10_000,
      default: 0,
    }),
    top_up_usd: section({
      min: number('The smallest top-up.', { minimum: 0.5, maximum: 999_999, default: 5 }),
      max: number('The largest top-up.', { minimum: 0.5, maximum: 999_999, default: 1_000 }),
      choices: Type.Array(number('USD.', { minimum: 0.5, maximum: 999_999 }), {
        maxItems: 8,
        default: [10, 25, 50, 100],
        description:
          'The amounts offered; users can type any other amount between `min` and `max`.',
      }),
    }),
  }),
  search: section({
    ...optional({
      providers: Type.Array(Type.String({ minLength: 1 }), {
        description:
          'The search providers for `POST /v1/web-search`, by their names under `providers`: the first, and if it fails the next. Default: all search providers that are switched on, in the order `brave`, `tavily`, `serper`, `exa`, `searxng`.',
      }),
      price_usd: orNull(
        Type.Number({ minimum: 0, maximum: 100 }),
        'USD for each web search, with any provider and number of results, without `pricing.markup`. Six decimals. `null`: searches are not sold. Default: the price of the provider that answers, with the markup (docs/search.md).',
      ),
    }),
  }),
  providers: Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' }), Provider, {
    ...named,
    names:
      'lower-case letters, digits, hyphens and underscores, beginning with a letter or digit, at most 40',
    description: 'Where models run, by a name of your choice; known names need only a key.',
  }),
  models: byModelName(ModelEntry, 'Models by id: new ones, and single fields of built-in ones.'),
  image_models: byModelName(
    ImageModelEntry,
    'Models that make images, by id: new ones, and single fields of built-in ones.',
  ),
  aliases: byModelName(
    Type.String({ minLength: 1, description: 'The id of the model that the alias stands for.' }),
    'Additional names of models.',
  ),
});

/** The timeouts of providers that the environment enables. */
export const defaultTimeouts = withDefaults(
  asFieldSchema(ProviderTimeouts),
  {},
) as ProviderTimeouts;

/** The file's values with defaults filled in. */
export type ConfigFile = Static<typeof ConfigFile>;

type NullWhenAbsent =
  | 'api_key'
  | 'region'
  | 'project'
  | 'api_version'
  | 'batch_bucket'
  | 'batch_role'
  | 'credential_of';

/**
 * A provider's final settings. It is not enabled when its key is missing or the file disables it:
 * routes to it are skipped. `tool_prices`: as far as the file sets them; `pricing.markup` is added.
 */
export type ProviderConfig = Required<Omit<Static<typeof Provider>, NullWhenAbsent>> & {
  [Name in NullWhenAbsent]: string | null;
};

/** `endpoint`: without a path. `prefix`: '' or with a slash at its end. */
type BucketConfig = Required<Omit<ConfigFile['storage'], 'kind' | 'session_token'>> & {
  kind: 's3';
  session_token: string | null;
};
export type StorageConfig = { kind: 'local'; keep_days: number } | BucketConfig;

/** `choices` are ascending and from `min` to `max`. */
export type StripeConfig = Required<ConfigFile['stripe']>;

/** `export_folder` is an absolute path. */
export type RetentionConfig = { charges_days: number; export_folder: string };

export type OtlpTarget = {
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
};

export const telemetrySamplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type TelemetryConfig = {
  /** null: spans are not exported. */
  traces: OtlpTarget | null;
  /** null: metrics are not exported. */
  metrics: OtlpTarget | null;
  service_name: string;
  resource_attributes: Record<string, string>;
  /** With `parentbased_`, the client decides if it sends a `traceparent`. */
  sampler: (typeof telemetrySamplers)[number];
  /** The share of requests that the ratio samplers take. */
  sampler_ratio: number;
  metric_interval_ms: number;
};

export type SmtpConfig = NonNullable<ConfigFile['smtp']>;

/** `issuer`: without a slash at its end. */
export type OidcConfig = NonNullable<ConfigFile['oidc']>;

/** File, environment and defaults merged and deeply frozen. */
export type Config = DeepReadonly<
  Omit<
    ConfigFile,
    | 'database'
    | 'providers'
    | 'retention'
    | 'search'
    | 'storage'
    | 'stripe'
    | 'telemetry'
    | 'smtp'
    | 'oidc'
  > & {
    /** `operator`: null when the operator exports nothing. */
    telemetry: { operator: TelemetryConfig | null; allowed_hosts: string[] };
    /** null: charges are kept for ever. */
    retention: RetentionConfig | null;
    storage: StorageConfig;
    /** null: Stripe is not configured. */
    stripe: StripeConfig | null;
    /** null: no mail server is configured. */
    smtp: SmtpConfig | null;
    /** null: users sign in with passwords only. */
    oidc: OidcConfig | null;
    database: { url: string };
    providers: Record<string, ProviderConfig>;
    /** `providers`: the enabled search providers, in the order of calls. */
    search: Omit<ConfigFile['search'], 'providers'> & { providers: string[] };
    tuning: Tuning;
    /** An absolute path. */
    dataDir: string;
    /** Problems that do not prevent a start. */
    warnings: string[];
  }
>;
