// The whole configuration file as a schema: the one source of its validation, its defaults, the JSON Schema for editors
// (docs/config.schema.json) and the table in docs/configuration.md.
import { Type, type Static } from 'typebox';
import { searchesPerRequestMax } from '../canonical/web-search.ts';
import { asFieldSchema, withDefaults } from './field-schema.ts';
import { formatsOfKind, type ProviderKindName } from './known-providers.ts';
import { ImageModelEntry } from './image-model-schema.ts';
import { ModelEntry, modelNamePattern, passFields, ToolPrices, type DeepReadonly, type ToolPricesEntry } from './model-schema.ts';
import { ProviderTimeouts } from './timeouts.ts';

const closed = { additionalProperties: false } as const;
/** A section may be left out: its fields have defaults. */
const section = { ...closed, default: {} } as const;
const milliseconds = (value: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 86_400_000, default: value, description });
const count = (value: number, minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, default: value, description });

const limitOf = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { default: null, description: `${description} \`null\`: no limit.` });

const Provider = Type.Object(
  {
    kind: Type.Optional(
      Type.Enum(Object.keys(formatsOfKind) as ProviderKindName[], {
        description:
          '`openai` speaks Responses and Chat Completions, `openai-compatible` Chat Completions, `anthropic` Messages, `google` Gemini; `bfl` (Black Forest Labs) makes images; `brave`, `tavily`, `serper`, `exa` and `searxng` search the web. May be left out for a known provider.',
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The address of its API: with the version (`/v1`) for the two openai kinds and `bfl`, without for `anthropic` and `google`. May be left out for a known provider other than `searxng`.',
      }),
    ),
    api_key: Type.Optional(
      Type.String({
        minLength: 1,
        writeOnly: true,
        description:
          "The operator's key there. `none`: no authentication header. `${VARIABLE}`: from the environment; while it is unset the provider is off. Left out for a known provider: its usual variable.",
      }),
    ),
    enabled: Type.Boolean({ default: true, description: '`false` switches the provider off, whatever its key.' }),
    timeouts: ProviderTimeouts,
    tool_prices: Type.Optional(ToolPrices),
    pass_fields: Type.Optional(
      passFields(
        'Fields of a request that are sent there although the gateway does not know them: paths without the places in lists, such as `custom_sampler` or `messages.content.hologram`; the last also opens the kind of content of that name. What a field does to the price is then yours to know. Fields that are refused by name stay refused.',
      ),
    ),
    cache_salt: Type.Boolean({
      default: false,
      description:
        'Whether the host takes `cache_salt`, as vLLM does: each account then has a prompt cache of its own there, which no other can measure.',
    }),
  },
  closed,
);

/** What can stand in a header. */
const visible = '^[\\x21-\\x7e]+$';

export const ConfigFile = Type.Object(
  {
    service: Type.Object(
      {
        name: Type.String({
          pattern: '^[A-Za-z][A-Za-z0-9-]{0,39}$',
          default: 'Service',
          description:
            "The part of the header names that is the service's own: `X-<name>-Cost-Micros`, `X-<name>-Balance-Cents`.",
        }),
      },
      section,
    ),
    server: Type.Object(
      {
        host: Type.String({
          pattern: '^\\S+$',
          default: '127.0.0.1',
          description: 'The address to listen on; `0.0.0.0` or `::` for all.',
        }),
        port: Type.Integer({ minimum: 0, maximum: 65_535, default: 4_000, description: 'The TCP port; 0 takes a free one.' }),
        public_url: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
          default: null,
          description: 'The address that clients use, where it is not the one listened on: behind a proxy or a domain name.',
        }),
        trust_proxy: Type.Union(
          [Type.Boolean(), Type.Integer({ minimum: 1, maximum: 32 }), Type.Array(Type.String({ minLength: 1 }))],
          {
            default: false,
            description:
              'Whose `X-Forwarded-*` headers are believed: the number of proxies in front, or a list of their addresses and CIDR ranges. `true` believes anybody: only behind a proxy that overwrites what the client sent.',
          },
        ),
        body_limit_bytes: Type.Integer({
          minimum: 1_024,
          maximum: 1_073_741_824,
          default: 33_554_432,
          description: 'The largest request body; a larger one is a 413.',
        }),
        arrival_timeout_ms: milliseconds(
          60_000,
          'How long a request may take to arrive, its body included. A client that takes longer is told so with a 408.',
        ),
        shutdown_timeout_ms: milliseconds(
          30_000,
          'How long open requests may go on after SIGTERM before they are ended, free of charge.',
        ),
        shutdown_delay_ms: Type.Integer({
          minimum: 0,
          maximum: 3_600_000,
          default: 5_000,
          description:
            'How long requests are still taken after SIGTERM, while `/readyz` already fails, so that a load balancer notices before the port closes. A part of `shutdown_timeout_ms`; left out where nobody has asked `/readyz` for a minute.',
        }),
      },
      section,
    ),
    overload: Type.Object(
      {
        lag_ms: Type.Union([Type.Integer({ minimum: 1, maximum: 60_000 }), Type.Null()], {
          default: 500,
          description:
            'How far behind the event loop may be, five measurements in a row, before new charged requests are refused with a 503 until it has caught up. `null`: however far.',
        }),
        memory_bytes: Type.Union([Type.Integer({ minimum: 67_108_864 }), Type.Null()], {
          default: null,
          description:
            'The memory of the process above which new charged requests are refused with a 503. `null`: 85 % of what the machine or its container has. In any case they are at 85 % of the heap that Node allows itself.',
        }),
        arriving_bytes: Type.Union([Type.Integer({ minimum: 1_024 }), Type.Null()], {
          default: null,
          description:
            'The most that bodies of requests may take together while they arrive; what goes beyond it is refused with a 503. `null`: an eighth of the memory bound.',
        }),
        answer_bytes: Type.Union([Type.Integer({ minimum: 1_024 }), Type.Null()], {
          default: null,
          description:
            'The most that whole answers of providers may take together while they are read, those up to 256 KB aside. What finds no room waits, unread; one at a time is always read. `null`: an eighth of the memory bound.',
        }),
      },
      section,
    ),
    database: Type.Object(
      {
        url: Type.Optional(
          Type.String({
            minLength: 1,
            writeOnly: true,
            description:
              'Where the books are kept: `sqlite:<path of the file>`, or `postgres://user:password@host/database` for one or more gateways on one database, which then need `TOLLGATE_SECRET`. Left out: `tollgate.db` in the data folder.',
          }),
        ),
      },
      section,
    ),
    test_mode: Type.Object(
      {
        enabled: Type.Boolean({
          default: true,
          description: 'Whether test keys work: play money, answered by the built-in sandbox.',
        }),
      },
      section,
    ),
    log: Type.Object(
      {
        level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
          default: 'info',
          description: 'The least that is logged.',
        }),
      },
      section,
    ),
    metrics: Type.Object(
      {
        token: Type.Optional(
          Type.String({
            minLength: 16,
            writeOnly: true,
            description:
              'Opens `GET /metrics` (Prometheus), and the details of `GET /readyz`, to whoever sends it as `Authorization: Bearer`. Left out: there is no such path, and readiness is a status alone.',
          }),
        ),
      },
      section,
    ),
    signup: Type.Object(
      {
        open: Type.Boolean({
          default: false,
          description:
            'Whether anybody may make an account in the dashboard. `false`: only who is invited, or has a link of the operator.',
        }),
        initial_credit_usd: Type.Number({
          minimum: 0,
          maximum: 1_000_000,
          default: 0,
          description:
            'USD that an account made by signing up is credited, once; with `smtp` when the e-mail address is proved. Six decimals.',
        }),
      },
      section,
    ),
    smtp: Type.Optional(
      Type.Object(
        {
          url: Type.String({
            minLength: 1,
            writeOnly: true,
            description:
              'The mail server: `smtp://user:password@host:587`, which changes to TLS, or `smtps://user:password@host:465`. Special characters in the password are written as %40 and the like.',
          }),
          from: Type.String({
            pattern: '^[^\\r\\n]*[^\\s@<>]@[^\\s@<>]+>?$',
            description: 'What stands in From: `Tollgate <no-reply@example.com>`.',
          }),
        },
        {
          ...closed,
          description:
            'The mail server for invitations, password resets and warnings. Left out: their links are shown to be handed over instead.',
        },
      ),
    ),
    oidc: Type.Optional(
      Type.Object(
        {
          issuer: Type.String({
            minLength: 1,
            description:
              'The address of the OpenID Connect provider, without `/.well-known/openid-configuration`: `https://accounts.google.com`.',
          }),
          client_id: Type.String({ pattern: visible, description: 'As the provider registered this gateway.' }),
          client_secret: Type.String({
            pattern: visible,
            writeOnly: true,
            description: 'As the provider registered this gateway.',
          }),
          name: Type.String({
            minLength: 1,
            maxLength: 40,
            default: 'single sign-on',
            description: 'What the button says: "Continue with" and this.',
          }),
          scopes: Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }), {
            default: ['openid', 'email', 'profile'],
            description: 'What is asked of the provider. It must say `email` and `email_verified`.',
          }),
        },
        {
          ...closed,
          description:
            'A provider that users may sign in through. It sends them back to `<server.public_url>/dashboard-api/auth/callback/oidc`, which must be registered there.',
        },
      ),
    ),
    limits: Type.Object(
      {
        chat_max_tokens: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
          default: 2_048,
          description: "The most that Chat Completions takes as `max_tokens`. `null`: no limit but the model's.",
        }),
        requests_per_minute: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
          default: 600,
          description: 'Requests a minute of a key that has no limit of its own. `null`: no limit.',
        }),
        tokens_per_minute: limitOf('Tokens a minute, input and output, of a key that has no limit of its own.'),
        concurrent_requests: limitOf('Requests at once of a key that has no limit of its own.'),
        account_requests_per_minute: limitOf(
          'Requests a minute of all keys of an account that has no limit of its own; live and test keys are counted apart.',
        ),
        account_tokens_per_minute: limitOf('Tokens a minute of all keys of such an account.'),
        account_concurrent_requests: limitOf('Requests at once of all keys of such an account.'),
        unpaid_concurrent_requests: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
          default: 4,
          description:
            'Requests at once of all live keys of such an account that has paid nothing yet: no top-up and no credit by an operator; its sign-up credit is neither. `null`: no limit but the one above.',
        }),
        loss_budget_usd: Type.Union([Type.Number({ minimum: 0, maximum: 1_000_000 }), Type.Null()], {
          default: 1,
          description:
            'What an account may cost in 30 days in losses that it can provoke (answers that cannot be passed on, costs beyond its balance and caps). Beyond it its new live requests are refused. `null`: no limit.',
        }),
        loss_budget_share: Type.Number({
          minimum: 0,
          maximum: 1,
          default: 0.05,
          description: 'The loss budget of an account that spends more: this share of what it was charged in the same 30 days.',
        }),
        failed_keys_per_minute: Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Null()], {
          default: 20,
          description:
            'Wrong API keys a minute from one address (of IPv6: one /64); further ones are refused unseen. Right keys go on working. `null`: no limit.',
        }),
        stream_keep_alive_ms: milliseconds(
          10_000,
          'How long a stream may be silent, while a model thinks, before the client is sent a keep-alive: `ping` in Messages, else a comment.',
        ),
        stream_stall_ms: milliseconds(60_000, 'How long a client may take nothing of its answer before it counts as gone.'),
        hold_slice_tokens: Type.Integer({
          minimum: 256,
          maximum: 100_000_000,
          default: 4_096,
          description:
            'How many output tokens of a stream are held for at a time: its hold grows with the answer, which ends as at its length limit when no more can be held.',
        }),
        default_max_output_tokens: Type.Integer({
          minimum: 1,
          maximum: 100_000_000,
          default: 32_768,
          description:
            'The output limit of a request that names none, where the model allows as much. It bounds what is held for it.',
        }),
        default_max_searches: Type.Integer({
          minimum: 1,
          maximum: searchesPerRequestMax,
          default: 5,
          description:
            'The most web searches that the provider may run for a request that names no limit itself (`max_tool_calls` in Responses, `max_uses` in Messages). It bounds what is held for it.',
        }),
      },
      section,
    ),
    idempotency: Type.Object(
      {
        body_limit_bytes: Type.Integer({
          minimum: 0,
          maximum: 67_108_864,
          default: 8_388_608,
          description:
            'The longest answer that is kept for a retry with the same `Idempotency-Key`. Of a longer one only the outcome is: it is not run again, and the retry is told so.',
        }),
      },
      section,
    ),
    cache: Type.Object(
      {
        enabled: Type.Boolean({
          default: true,
          description:
            'Whether identical requests of an account are answered from the cache. `false`: nothing is read from it or written to it.',
        }),
        memory_bytes: Type.Integer({
          minimum: 65_536,
          maximum: 17_179_869_184,
          default: 67_108_864,
          description: 'What each gateway keeps of the cache in memory, the answers that were used last.',
        }),
        disk_bytes: Type.Integer({
          minimum: 65_536,
          maximum: 1_099_511_627_776,
          default: 1_073_741_824,
          description: 'What the cache may take in the database; beyond it the oldest answers go first.',
        }),
        body_limit_bytes: Type.Integer({
          minimum: 0,
          maximum: 67_108_864,
          default: 8_388_608,
          description: 'The longest answer that is cached.',
        }),
      },
      section,
    ),
    retries: Type.Object(
      {
        max_attempts: count(
          4,
          1,
          20,
          'How often a request may be sent upstream in all, over all routes of its model. 1: no retries.',
        ),
        attempts_per_route: count(2, 1, 20, 'How often it may be sent to one route before the next one is tried.'),
        budget_percent: count(
          20,
          0,
          100,
          'How many retries there may be at a time, in percent of the requests under way: a provider that fails is not sent many times the load.',
        ),
        budget_floor: count(3, 0, 1_000, 'How many retries there may be at a time however few requests are under way.'),
        deadline_ms: milliseconds(
          300_000,
          'How long after its first attempt a request may be sent once more. An attempt under way goes on.',
        ),
        backoff_base_ms: milliseconds(
          250,
          'The wait before a route is tried again; it doubles with each retry of the request. Of each wait, half is left to chance.',
        ),
        backoff_cap_ms: milliseconds(
          5_000,
          'The longest such wait. A provider whose `Retry-After` asks for more is not waited for: the next route is tried.',
        ),
      },
      section,
    ),
    health: Type.Object(
      {
        failures: count(5, 1, 1_000, 'How many failures in a row put a route (a provider and its model) out of use for a while.'),
        ejection_ms: milliseconds(
          10_000,
          'How long the first time; it doubles each further time. Then one request at a time tries the route.',
        ),
        ejection_cap_ms: milliseconds(
          300_000,
          'The longest such time, and how long a route is out of use whose credential was refused.',
        ),
      },
      section,
    ),
    storage: Type.Object(
      {
        kind: Type.Enum(['local', 's3'], {
          default: 'local',
          description:
            'Where generated images are kept: `local`, in `images` in the data folder, or `s3`, in a bucket of any S3-compatible service, which several gateways can share.',
        }),
        keep_days: Type.Integer({
          minimum: 1,
          maximum: 365,
          default: 7,
          description: 'How long a generated image, and the link to it, is kept.',
        }),
        bucket: Type.Optional(
          Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$', description: 'The name of the bucket.' }),
        ),
        region: Type.Optional(
          Type.String({
            pattern: '^[A-Za-z0-9-]{1,40}$',
            description: 'Its region. Left out: `AWS_REGION`, else `us-east-1`.',
          }),
        ),
        endpoint: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'The address of a service other than AWS, without the bucket: `https://s3.example.com`.',
          }),
        ),
        prefix: Type.Optional(
          Type.String({
            pattern: '^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*$',
            description: 'What the keys of images begin with, with a slash at its end. Left out: `tollgate/images/`.',
          }),
        ),
        path_style: Type.Optional(
          Type.Boolean({
            description:
              'Whether the bucket stands in the path (`host/bucket`) or before the host (`bucket.host`). Left out: in the path with an `endpoint`, before the host without.',
          }),
        ),
        access_key_id: Type.Optional(
          Type.String({
            pattern: visible,
            writeOnly: true,
            description:
              'The id of an access key that may list the bucket and get, put and delete objects below the prefix. Left out: `AWS_ACCESS_KEY_ID`.',
          }),
        ),
        secret_access_key: Type.Optional(
          Type.String({ pattern: visible, writeOnly: true, description: 'Its secret. Left out: `AWS_SECRET_ACCESS_KEY`.' }),
        ),
        session_token: Type.Optional(
          Type.String({
            pattern: visible,
            writeOnly: true,
            description: 'Of temporary credentials. Left out, with the key: `AWS_SESSION_TOKEN`.',
          }),
        ),
      },
      section,
    ),
    images: Type.Object(
      {
        allowed_hosts: Type.Array(
          Type.String({
            pattern: '^(?:\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(?::\\d{1,5})?$',
            description: 'A host, or `host:port` for another port than 80 and 443.',
          }),
          {
            maxItems: 100,
            default: [],
            description:
              'Hosts whose images may be fetched though they are not on the public internet. Whoever has a key can then make the gateway send them a GET for any path: list only hosts where that does no harm.',
          },
        ),
        memory_bytes: Type.Integer({
          minimum: 1_048_576,
          maximum: 17_179_869_184,
          default: 100_663_296,
          description:
            'The most that the large bodies (256 KB and more) of requests for images may have together, from before they are read until their answers have ended. What goes beyond it waits, unread, in the order in which it came; the process takes a few times as much. At most `overload.arriving_bytes` counts.',
        }),
      },
      section,
    ),
    pricing: Type.Object(
      {
        markup: Type.Number({
          minimum: 0,
          maximum: 1_000,
          default: 1,
          description:
            "What accounts pay is the provider's price times this, where a model does not state its own price. Six decimals.",
        }),
      },
      section,
    ),
    billing: Type.Object(
      {
        contact: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], {
          default: null,
          description:
            'Whom account owners ask for credit where they cannot pay by themselves: an e-mail address, a web address or some words. `null`: whoever runs the service.',
        }),
      },
      section,
    ),
    stripe: Type.Object(
      {
        secret_key: Type.Optional(
          Type.String({
            pattern: '^(?:sk|rk)_[A-Za-z0-9_]{8,}$',
            writeOnly: true,
            description:
              'The secret or restricted key of the Stripe account that top-ups are paid to; it needs to write Checkout Sessions. Left out: account owners cannot top up by themselves.',
          }),
        ),
        webhook_secret: Type.Optional(
          Type.String({
            pattern: visible,
            writeOnly: true,
            description:
              'What Stripe signs its events with (`whsec_…`), of the webhook endpoint `<public_url>/webhooks/stripe`. Needed beside `secret_key`.',
          }),
        ),
        api_url: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'The address of another server with the same API, for trials: `http://127.0.0.1:12111`.',
          }),
        ),
        top_up_usd: Type.Object(
          {
            min: Type.Number({ minimum: 0.5, maximum: 999_999, default: 5, description: 'The least that can be paid at once.' }),
            max: Type.Number({
              minimum: 0.5,
              maximum: 999_999,
              default: 1_000,
              description: 'The most that can be paid at once.',
            }),
            choices: Type.Array(Type.Number({ minimum: 0.5, maximum: 999_999, description: 'USD.' }), {
              maxItems: 8,
              default: [10, 25, 50, 100],
              description: 'What is offered to choose from; any amount between the two can be typed.',
            }),
          },
          section,
        ),
      },
      section,
    ),
    search: Type.Object(
      {
        providers: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description:
              'Who answers `POST /v1/web-search`, by the names under `providers`: the first, and when it fails the next. Left out: all of a search kind that are switched on, in the order `brave`, `tavily`, `serper`, `exa`, `searxng`.',
          }),
        ),
        price_usd: Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()], {
          default: 0.005,
          description:
            'USD that an account pays for a web search, whatever its number of results: `pricing.markup` is not added. Six decimals. `null`: not sold.',
        }),
        timeout_ms: milliseconds(20_000, 'How long a web search may take, all providers that are tried included.'),
      },
      section,
    ),
    providers: Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' }), Provider, {
      ...section,
      description: 'Where models run, by a name of your choice; known names need no more than a key.',
    }),
    models: Type.Record(Type.String({ pattern: modelNamePattern }), ModelEntry, {
      ...section,
      description: 'Models by id: new ones, and single fields of built-in ones.',
    }),
    image_models: Type.Record(Type.String({ pattern: modelNamePattern }), ImageModelEntry, {
      ...section,
      description: 'Models that make images, by id: new ones, and single fields of built-in ones.',
    }),
    aliases: Type.Record(
      Type.String({ pattern: modelNamePattern }),
      Type.String({ minLength: 1, description: 'The id of the model that the name stands for.' }),
      { ...section, description: 'Further names of models.' },
    ),
  },
  closed,
);

/** What the environment's own providers run with. */
export const defaultTimeouts = withDefaults(asFieldSchema(ProviderTimeouts), {}) as ProviderTimeouts;

/** What the file says, its defaults filled in. */
export type ConfigFile = Static<typeof ConfigFile>;

/** A provider as it will be used. */
export type ProviderConfig = {
  /** Off: its key is not there, or the file says so. Routes to it are skipped. */
  enabled: boolean;
  kind: ProviderKindName;
  base_url: string;
  /** null: no authentication header. */
  api_key: string | null;
  timeouts: ProviderTimeouts;
  /** What it charges for calls of tools that it runs, where the file says so; `pricing.markup` is added. */
  tool_prices: ToolPricesEntry;
  /** Fields of a request that it is sent although nobody here knows them. */
  pass_fields: string[];
  /** Whether the host accepts the field `cache_salt`. */
  cache_salt: boolean;
};

export type StorageConfig =
  | { kind: 'local'; keep_days: number }
  | {
      kind: 's3';
      keep_days: number;
      bucket: string;
      region: string;
      /** Without a path. */
      endpoint: string;
      /** '' or with a slash at its end. */
      prefix: string;
      path_style: boolean;
      access_key_id: string;
      secret_access_key: string;
      session_token: string | null;
    };

export type StripeConfig = {
  secret_key: string;
  webhook_secret: string;
  /** null: Stripe's own. Without a path. */
  api_url: string | null;
  /** Whole cents, `choices` ascending and within the other two. */
  top_up_usd: ConfigFile['stripe']['top_up_usd'];
};

export type SmtpConfig = { url: string; from: string };

export type OidcConfig = {
  /** Without a slash at its end. */
  issuer: string;
  client_id: string;
  client_secret: string;
  name: string;
  scopes: string[];
};

/** File, environment and defaults in one, deeply frozen. */
export type Config = DeepReadonly<
  Omit<ConfigFile, 'database' | 'providers' | 'search' | 'storage' | 'stripe' | 'smtp' | 'oidc'> & {
    storage: StorageConfig;
    /** null: nobody can pay by card. */
    stripe: StripeConfig | null;
    /** null: e-mails cannot be sent. */
    smtp: SmtpConfig | null;
    /** null: users sign in with passwords only. */
    oidc: OidcConfig | null;
    database: { url: string };
    providers: Record<string, ProviderConfig>;
    /** `providers`: switched on, of a search kind, in the order in which they are asked. */
    search: Omit<ConfigFile['search'], 'providers'> & { providers: string[] };
    /** An absolute path. */
    dataDir: string;
    /** What the operator should know but need not stop for. */
    warnings: string[];
  }
>;
