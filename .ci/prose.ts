// Keeps comments plain, and file names in comments and documents true: `npm run check:prose`.
import { globSync, readFileSync } from 'node:fs'

const FOLDERS = ['src', 'test', '.ci', 'prisma', 'clients']
/** A comment that begins with one of these words describes a thing instead of naming it. */
const INDIRECT = /^\s*(?:\/\*\*|\*|\/\/) +(?:What|Whether|Of|Where|Who|Whose|Those|Which|How|Has|So many)\b/
/** Exported names that say nothing without their history. */
const UNCLEAR_NAMES = new Set(['told', 'whose', 'beside', 'own', 'seen', 'among', 'ofThese', 'compose', 'sameOwner', 'Sight'])
const EXPORTED = /^export (?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/

const COMMENT = /^\s*(?:\/\*\*|\*|\/\/) /
/** A source file, by its name or the end of its path. In comments only paths count. */
const FILE_IN_COMMENT = /(?<![\w./<>*{}-])[\w.-]+\/[\w./-]+\.(?:ts|mjs)\b/g
const FILE_IN_DOCUMENT = /(?<=`)[\w./-]+\.(?:ts|mjs|prisma)(?=`)/g

const problems: string[] = []
const sources = globSync(`{${FOLDERS},docs,ops}/**/*.{ts,mjs,prisma}`, { exclude: ['**/generated/**', '**/dist/**'] })
const isSource = (name: string) => sources.some((file) => file === name || file.endsWith(`/${name}`))
const checkFileNames = (place: string, text: string, names: RegExp) => {
  for (const [name] of text.matchAll(names)) if (!isSource(name)) problems.push(`${place}: no such file: ${name}`)
}

for (const file of globSync(['README.md', 'docs/**/*.md', 'src/**/README.md'], { exclude: ['docs/released/**'] }))
  for (const [i, text] of readFileSync(file, 'utf8').split('\n').entries())
    checkFileNames(`${file}:${i + 1}`, text, FILE_IN_DOCUMENT)

for (const file of sources.filter((name) => name.endsWith('.ts') && FOLDERS.some((folder) => name.startsWith(`${folder}/`))))
  for (const [i, text] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (COMMENT.test(text)) checkFileNames(`${file}:${i + 1}`, text, FILE_IN_COMMENT)
    if (INDIRECT.test(text)) problems.push(`${file}:${i + 1}: name the thing instead of describing it: ${text.trim()}`)
    if (UNCLEAR_NAMES.has(EXPORTED.exec(text)?.[1] ?? '')) problems.push(`${file}:${i + 1}: rename: ${text.trim()}`)
  }
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`)
  process.exitCode = 1
}
