// Counts the statements that are written past the compiler: `npm run check:statements`. None may be added: the number of each file only falls.
import { globSync, readFileSync, writeFileSync } from 'node:fs'

const RAW = /\$(?:query|execute)Raw(?:Unsafe)?\b|Prisma\.(?:sql|raw|join|empty|Sql)\b/g
const LEFT = '.ci/raw-statements.json'

const counts: Record<string, number> = {}
for (const file of globSync('src/{domain,import,jobs,cli,runtime,http,interfaces}/**/*.ts').sort()) {
  const found = readFileSync(file, 'utf8').match(RAW)?.length ?? 0
  if (found > 0) counts[file] = found
}
if (process.argv.includes('--write')) writeFileSync(LEFT, `${JSON.stringify(counts, null, 2)}\n`)
const allowed: Record<string, number> = JSON.parse(readFileSync(LEFT, 'utf8'))
const added = Object.entries(counts).filter(([file, count]) => count > (allowed[file] ?? 0))
for (const [file, count] of added)
  console.error(`${file}: ${count} raw statements, ${allowed[file] ?? 0} before. See src/db/README.md.`)
process.stdout.write(`${Object.values(counts).reduce((sum, count) => sum + count, 0)} in ${Object.keys(counts).length} files\n`)
process.exitCode = added.length > 0 ? 1 : 0
