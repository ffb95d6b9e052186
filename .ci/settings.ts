// node .ci/settings.ts: writes the settings, as src/environment.ts describes them, into README.md and .env.example.
import { readFile, writeFile } from 'node:fs/promises'
import type { TSchema } from '@sinclair/typebox'
import { Environment } from '../src/environment.ts'

const BEGIN = '<!-- settings: written by .ci/settings.ts -->'
const END = '<!-- /settings -->'
const settings = Object.entries<TSchema>(Environment.properties)

const values = ({ enum: words, default: preset }: TSchema) =>
  [words?.map((word: string) => `\`${word}\``).join(', '), preset !== undefined && `default \`${preset}\``]
    .filter(Boolean)
    .join('; ')

/** README.md as it should be. */
export function withSettingsTable(readme: string): string {
  const rows = settings.map(([name, schema]) => `| \`${name}\` | ${values(schema)} | ${schema.description} |`)
  const table = ['| variable | values | meaning |', '|---|---|---|', ...rows].join('\n')
  return readme.replace(new RegExp(`${BEGIN}[^]*${END}`), `${BEGIN}\n\n${table}\n\n${END}`)
}

/** .env.example as it should be. */
export function settingsExample(): string {
  const blocks = settings.map(([name, schema]) => {
    const words = schema.enum ? ` One of ${schema.enum.join(', ')}.` : ''
    return `# ${schema.description}${words}\n# ${name}=${schema.default ?? ''}\n`
  })
  return ['# Copy to .env and uncomment what should differ from the default that stands behind it.\n', ...blocks].join('\n')
}

if (import.meta.main) {
  await writeFile('README.md', withSettingsTable(await readFile('README.md', 'utf8')))
  await writeFile('.env.example', settingsExample())
}
