// npm run check:statements: finds raw statements, whose values and columns the compiler doesn't check, transactions begun without `transact`,
// and statements inside a transaction that go to the pool. src/db/README.md shows what to write instead.
import { globSync, readFileSync } from 'node:fs'

const tables = [...readFileSync('prisma/schema.prisma', 'utf8').matchAll(/@@map\("(\w+)"\)/g)].map(([, table]) => table)
const RAW = /\$(?:query|execute)Raw(?:Unsafe)?\b|\.\$transaction\b|Prisma\.(?:sql|raw|join|empty|Sql)\b/
/** Table names in raw SQL, and imports of the query builder without scope. */
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
const BEGIN = /\binTransaction\(\s*(\w+), (?:async )?\(?\w+\)? =>/g

/** Index of the parenthesis that closes the one at `from`. */
function closingAt(text: string, from: number): number {
  let depth = 0
  for (let i = from; i < text.length; i++) {
    if (text[i] === '(') depth++
    else if (text[i] === ')' && --depth === 0) return i
  }
  return text.length
}

/** Statements inside a transaction that use the outer context, so they run on the pool and their locks protect nothing. */
const outsideTransactions = globSync('src/**/*.ts', { exclude: ['src/generated/**'] })
  .sort()
  .flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    return [...text.matchAll(BEGIN)].flatMap(({ index, 0: begin, 1: outer }) => {
      const body = text.slice(index + begin.length, closingAt(text, text.indexOf('(', index)))
      return new RegExp(`(?<![\\w.])${outer}\\.db\\b`).test(body) ? [`${file}: ${outer}.db inside of ${begin}`] : []
    })
  })

/** Listed files that no longer have unscoped queries. */
const unusedReasons = [...readFileSync('.ci/unscoped-files.mjs', 'utf8').matchAll(/^ {2}'(.+?)':/gm)]
  .map(([, file]) => file)
  .filter((file) => !/\bunscoped(?:Prisma)?\(/.test(readFileSync(`src/${file}`, 'utf8')))
  .map((file) => `.ci/unscoped-files.mjs: src/${file} has no unscoped query`)

const found = [
  ...outsideTransactions,
  ...unusedReasons,
  ...linesOf('src/**/*.ts', ['src/db/**', 'src/generated/**'], RAW),
  ...linesOf('src/domain/**/*.ts', [], UNSCOPED),
]
if (found.length > 0) {
  process.stderr.write(`Write these as src/db/README.md says:\n${found.join('\n')}\n`)
  process.exitCode = 1
}
