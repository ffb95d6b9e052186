// Finds statements that are written past the compiler, and transactions that are not begun by `transact`: `npm run check:statements`. There
// any object passes as a value, and a renamed column is not seen. What to write instead: src/db/README.md.
import { globSync, readFileSync } from 'node:fs'

const RAW = /\$(?:query|execute)Raw(?:Unsafe)?\b|\.\$transaction\b|Prisma\.(?:sql|raw|join|empty|Sql)\b/

const found = globSync('src/**/*.ts', { exclude: ['src/db/**', 'src/generated/**'] })
  .sort()
  .flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => (RAW.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  )
if (found.length > 0) {
  process.stderr.write(`Write these as src/db/README.md says:\n${found.join('\n')}\n`)
  process.exitCode = 1
}
