// npm run migration -- <name>: drafts migrations from the difference between schema.prisma and the migrations. Complete the drafts by hand.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { diffMigrationsToSchema, EMPTY_MIGRATION } from './schema-engine.ts'
import { nextTimestamps, splitDraft } from './split-draft.ts'

const name = process.argv[2]
if (!name || !/^[a-z0-9_]+$/.test(name)) {
  console.error('usage: npm run migration -- <name>   (lower case letters, digits and underscores)')
  process.exit(1)
}
const sql = await diffMigrationsToSchema()
if (sql === EMPTY_MIGRATION) {
  console.log('The migrations already describe schema.prisma.')
  process.exit(0)
}
const migrations = path.join(import.meta.dirname, 'migrations')
const parts = splitDraft(sql)
const stamps = nextTimestamps(await readdir(migrations), new Date(), parts.length)
for (const [i, part] of parts.entries()) {
  const folder = path.join(migrations, `${stamps[i]}_${part.index ?? name}`)
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'migration.sql'), `${part.sql}\n`)
  console.log(`Drafted ${path.relative(process.cwd(), folder)}/migration.sql: read it and complete it.`)
}
process.exit(0)
