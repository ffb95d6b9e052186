// Keeps comments plain: `npm run check:prose`. A comment that begins with one of these words describes a thing instead of naming it.
import { globSync, readFileSync } from 'node:fs'

const FOLDERS = ['src', 'test', '.ci', 'prisma', 'clients']
const INDIRECT = /^\s*(?:\/\*\*|\*|\/\/) +(?:What|Whether|Of|Where|Who|Whose|Those|Which)\b/
/** Exported names that say nothing without their history. */
const UNCLEAR_NAMES = new Set(['told', 'whose', 'beside', 'own', 'seen', 'among', 'ofThese', 'compose', 'sameOwner', 'Sight'])
const EXPORTED = /^export (?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/

const problems: string[] = []
for (const file of globSync(`{${FOLDERS}}/**/*.ts`, { exclude: ['**/generated/**', '**/dist/**'] }))
  for (const [i, text] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (INDIRECT.test(text)) problems.push(`${file}:${i + 1}: name the thing instead of describing it: ${text.trim()}`)
    if (UNCLEAR_NAMES.has(EXPORTED.exec(text)?.[1] ?? '')) problems.push(`${file}:${i + 1}: rename: ${text.trim()}`)
  }
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`)
  process.exitCode = 1
}
