// node .ci/settings.ts: writes the settings of src/runtime/environment.ts into docs/operating.md and .env.example, and the variables that only
// docker-compose.yml reads into the latter.
import { readFile, writeFile } from 'node:fs/promises'
import { type TSchema, Type } from '@sinclair/typebox'
import { Environment, SECRETS } from '../src/runtime/environment.ts'

const BEGIN = '<!-- settings: written by .ci/settings.ts -->'
const END = '<!-- /settings -->'
const settings = Object.entries<TSchema>(Environment.properties)

/** Variables of docker-compose.yml that are no settings of the service. */
export const ComposeVariables = Type.Object({
  POSTGRES_PASSWORD: Type.String({
    description:
      "The database's password; in single quotes if there is a # or $ in it. Required. To change it after the first start, see docs/operating.md.",
  }),
  SITE: Type.String({
    default: '',
    examples: ['assessments.example.com'],
    description:
      'Name under which Caddy serves the service by HTTPS, with COMPOSE_PROFILES=https; PUBLIC_URL and TRUST_PROXY follow.',
  }),
  COMPOSE_PROFILES: Type.String({
    default: '',
    examples: ['https,shared-limits'],
    description: 'What runs besides, comma-separated: https (Caddy, see SITE), shared-limits (Valkey, see REDIS_URL).',
  }),
})

/** Variables that the PostgreSQL and S3 clients read themselves. */
export const ClientVariables = Type.Object({
  PGPASSWORD: Type.String({ description: "The database's password, where DATABASE_URL has none. Not for docker-compose.yml." }),
  AWS_ACCESS_KEY_ID: Type.String({ description: 'Access key of the bucket of MEDIA_URL.' }),
  AWS_SECRET_ACCESS_KEY: Type.String({ description: 'Its secret.' }),
})

const code = (name: string): string => `\`${name}\``

const values = ({ enum: words, default: preset, examples }: TSchema) =>
  [
    words?.map((word: string) => `\`${word}\``).join(', '),
    preset !== undefined && `default \`${preset}\``,
    examples && `e.g. \`${examples[0]}\``,
  ]
    .filter(Boolean)
    .join('; ')

/** Replaces the table in docs/operating.md. */
export function withSettingsTable(page: string): string {
  const rows = settings.map(([name, schema]) => `| \`${name}\` | ${values(schema)} | ${schema.description} |`)
  const table = ['| variable | values | meaning |', '|---|---|---|', ...rows].join('\n')
  const secrets = `${SECRETS.slice(0, -1).map(code).join(', ')} and ${code(SECRETS.at(-1)!)}`
  const files = `${secrets} can also be given as ${code(`${SECRETS[0]}_FILE`)} and so on: the path of a file that holds the value. Where both are given, the file is taken.`
  return page.replace(new RegExp(`${BEGIN}[^]*${END}`), `${BEGIN}\n\n${files}\n\n${table}\n\n${END}`)
}

/** Text of .env.example. */
export function settingsExample(): string {
  return [
    '# Copy to .env and uncomment what should differ from the default that stands behind it.\n',
    ...settings.map(describe),
    '# Read by the clients of the database and of S3.\n',
    ...Object.entries<TSchema>(ClientVariables.properties).map(describe),
    '# Only docker-compose.yml reads what follows.\n',
    ...Object.entries<TSchema>(ComposeVariables.properties).map(describe),
  ].join('\n')
}

function describe([name, schema]: [string, TSchema]): string {
  const { description, enum: words, default: preset = '', examples } = schema
  const hint = words ? ` One of ${words.join(', ')}.` : examples ? ` E.g. ${examples[0]}` : ''
  return `# ${description}${hint}\n# ${name}=${preset}\n`
}

if (import.meta.main) {
  await writeFile('docs/operating.md', withSettingsTable(await readFile('docs/operating.md', 'utf8')))
  await writeFile('.env.example', settingsExample())
}
