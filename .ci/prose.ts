// Keeps comments plain: `npm run check:prose`. A comment that begins with one of these words describes a thing instead of naming it. The
// counts below may only fall. Lower them when you have rewritten comments.
import { globSync, readFileSync } from 'node:fs'

const MOST_INDIRECT_COMMENTS = { src: 0, test: 184, '.ci': 0 }
const INDIRECT = /^\s*(?:\/\*\*|\*|\/\/) +(?:What|Whether|Of|Where|Who|Whose|Those|Which)\b/
/** Exported names that say nothing without their history. */
const UNCLEAR_NAMES = new Set(['told', 'whose', 'beside', 'own', 'seen', 'among', 'ofThese', 'compose', 'sameOwner', 'Sight'])
const EXPORTED = /^export (?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/

const problems: string[] = []
for (const [folder, most] of Object.entries(MOST_INDIRECT_COMMENTS)) {
  const files = globSync(`${folder}/**/*.ts`, { exclude: ['src/generated/**'] })
  const lines = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((text, i) => ({ file, number: i + 1, text })),
  )
  const count = lines.filter(({ text }) => INDIRECT.test(text)).length
  if (count > most)
    problems.push(
      `${folder}: ${count} comments begin with What, Whether, Of, Where, Who, Whose, Those, or Which; at most ${most} may.`,
    )
  else if (count < most)
    process.stdout.write(`${folder}: ${count} of at most ${most} such comments. Lower the limit in .ci/prose.ts.\n`)
  for (const { file, number, text } of lines)
    if (UNCLEAR_NAMES.has(EXPORTED.exec(text)?.[1] ?? '')) problems.push(`${file}:${number}: rename: ${text.trim()}`)
}
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`)
  process.exitCode = 1
}
