import { EXIT_FAILED } from './exit-codes.ts'

/** What a command answers: to a person, and to a program (`--json`). */
export type Output = {
  text: string
  json: unknown
  /** What went wrong, for standard error; the command has then failed. */
  complaint?: string
}

export type OutputOptions = { json?: true }

/** Writes a command's answer, and sets the exit code when it has failed. */
export function writeOutput({ text, json, complaint }: Output, options: OutputOptions): void {
  process.stdout.write(options.json ? `${JSON.stringify(json, null, 2)}\n` : text)
  if (complaint === undefined) return
  process.stderr.write(complaint)
  process.exitCode = EXIT_FAILED
}

/** Plain text in aligned columns, with a line of headings. */
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

/** What an error says, in one line. Prisma tells the reason last; a failed connection to several addresses says nothing itself. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors.map(describeError).join('; ') : ''
  const lines = (error.message || inner || (error as NodeJS.ErrnoException).code || error.name)
    .split('\n')
    .filter((line) => line.trim())
  return (error.name.startsWith('Prisma') ? lines.at(-1)! : lines[0]!).trim()
}
