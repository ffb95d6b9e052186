import { EXIT_FAILED } from './exit-codes.ts'

/** Output of a command: `text` for people, `json` for programs (`--json`). */
export type Output = {
  text: string
  json: unknown
  /** Error message for standard error. If set, the command fails. */
  complaint?: string
}

export type OutputOptions = { json?: true }

/** Prints a command's output and sets the exit code. */
export function writeOutput({ text, json, complaint }: Output, options: OutputOptions): void {
  process.stdout.write(options.json ? `${toJson(json)}\n` : text)
  if (complaint === undefined) return
  process.stderr.write(complaint)
  process.exitCode = EXIT_FAILED
}

/** JSON with control characters escaped also above ASCII: a terminal would obey them. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/[\u007F-\u009F]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)

/** A text of others in one line, without control characters, which a terminal would obey. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ')

/** Formats aligned columns with headings. */
export function table(headings: string[], rows: (string | number)[][]): string {
  const lines = [headings, ...rows].map((row) => row.map(String))
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** Summarizes an error in one line. Prisma puts the reason last; a connection to several addresses has no message of its own. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors.map(describeError).join('; ') : ''
  const lines = (error.message || inner || (error as NodeJS.ErrnoException).code || error.name)
    .split('\n')
    .filter((line) => line.trim())
  return printable(error.name.startsWith('Prisma') ? lines.at(-1)! : lines[0]!).trim()
}
