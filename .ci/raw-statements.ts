// npm run check:statements: finds raw statements, and transactions not begun by `transact`. The compiler checks neither their values nor their
// columns. src/db/README.md shows what to write instead.
import { globSync, readFileSync } from 'node:fs'

const tables = [...readFileSync('prisma/schema.prisma', 'utf8').matchAll(/@@map\("(\w+)"\)/g)].map(([, table]) => table)
const RAW = /\$(?:query|execute)Raw(?:Unsafe)?\b|\.\$transaction\b|Prisma\.(?:sql|raw|join|empty|Sql)\b/
/** Also the query builder that has no scope. */
const UNSCOPED = new RegExp(
  `\\b(?:from|join|update|into|using)\\s+(?:${tables.join('|')})\\b|import .*\\bbuilder\\b.*db/builder`,
  'i',
)
const COMMENT = /^\s*(?:\/\/|\/\*|\*)/

const linesOf = (pattern: string, exclude: string[], refused: RegExp): string[] =>
  globSync(pattern, { exclude })
    .sort()
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, i) => (refused.test(line) && !COMMENT.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
    )
const found = [...linesOf('src/**/*.ts', ['src/db/**', 'src/generated/**'], RAW), ...linesOf('src/domain/**/*.ts', [], UNSCOPED)]
if (found.length > 0) {
  process.stderr.write(`Write these as src/db/README.md says:\n${found.join('\n')}\n`)
  process.exitCode = 1
}
