// node .ci/error-codes.ts: writes the section "Error codes" of docs/guides/errors.md from the service's own error tables.
import { readFile, writeFile } from 'node:fs/promises'
import { type ErrorGuidance, errorGuidance } from '../src/http/errors/error-guidance.ts'
import type { FailureKind } from '../src/http/errors/failure.ts'
import { errorDescription as alternate } from '../src/interfaces/alternate/errors.ts'
import { errorDescription as v1 } from '../src/interfaces/v1/errors.ts'

const PAGE = 'docs/guides/errors.md'
const HEADING = '## Error codes'
const INTRODUCTION = 'Each code with its status, its cause, what to do, and whether to send the same request again.'

const retries: Record<ErrorGuidance['retry'], string> = {
  no: 'no',
  wait: 'yes, after the seconds in `Retry-After`',
  read: 'only after reading again',
  yes: 'yes, a few times',
}

/** Replaces the section in the guide's text. */
export function withErrorCodes(page: string): string {
  const sections = Object.entries(errorGuidance).flatMap(([code, guidance]) =>
    guidance ? [`### ${code}\n\n${formatGuidance(code as FailureKind, guidance)}`] : [],
  )
  const text = [HEADING, INTRODUCTION, ...sections].join('\n\n')
  return page.replace(new RegExp(`${HEADING}\n[^]*?(?=\n\n## )`), () => text)
}

function formatGuidance(code: FailureKind, { cause, action, retry, only }: ErrorGuidance): string {
  const [ofV1, ofAlternate] = [v1, alternate].map(({ present }) => present({ kind: code, issues: [] }).status)
  const both = ofV1 === ofAlternate ? `${ofV1}` : `${ofV1} in v1, ${ofAlternate} in the alternate interface`
  const status = only === undefined ? both : only === 'v1' ? `${ofV1}` : `${ofAlternate} in the alternate interface`
  return `**Status ${status}.** ${cause} ${action} **Retry:** ${retries[retry]}.`
}

if (import.meta.main) await writeFile(PAGE, withErrorCodes(await readFile(PAGE, 'utf8')))
