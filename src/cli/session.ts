import { type Command, InvalidArgumentError } from 'commander'
import { pino } from 'pino'
import type { ServiceContext } from '../domain/context.ts'
import { MAX_NAME_LENGTH, NON_BLANK_TEXT_PATTERN } from '../domain/limits.ts'
import { loadConfig } from '../runtime/config.ts'
import { createDependencies, type Dependencies } from '../runtime/dependencies.ts'
import { describeError, type Output, type OutputOptions, writeOutput } from './output.ts'

/** Logs to standard error, because standard output is for the command's output. */
const createLogToStderr = () =>
  pino({ level: 'warn', base: null, redact: { paths: ['err.config', 'err.meta'], remove: true } }, process.stderr)

export type CommandSession = Pick<Dependencies, 'site' | 'mailSettings' | 'migrated'> & { operator: ServiceContext }

/** Adds a command with the option `--json`. */
export const addCommand = (parent: Command, usage: string, description: string): Command =>
  parent.command(usage).description(description).option('--json', 'print JSON')

/**
 * Runs a command on the configured database, whether the service is running or not, and prints its output.
 *
 * @param choices.migrates true if the command migrates the database first. It then also waits for a database that is starting.
 */
export async function runCommand(
  options: OutputOptions,
  work: (session: CommandSession) => Promise<Output>,
  { migrates = false, replacesSecretKey = false } = {},
): Promise<void> {
  const config = loadConfig(process.env)
  const choices = { serves: false, migrates, replacesSecretKey }
  const dependencies = await createDependencies(config, createLogToStderr(), choices).catch(explainUnreachable)
  try {
    const operator: ServiceContext = { ...dependencies.system, actor: { kind: 'operator' } }
    writeOutput(await work({ ...dependencies, operator }), options)
  } finally {
    await dependencies.dispose()
  }
}

/** Explains connection errors, and rethrows errors of the database. */
function explainUnreachable(cause: unknown): never {
  const isConnection = cause instanceof AggregateError || (cause instanceof Error && 'syscall' in cause)
  if (!isConnection) throw cause
  throw new Error(`The database can not be reached: ${describeError(cause)}. See: npm run cli -- doctor`, { cause })
}

export function parseName(text: string): string {
  const fits = new RegExp(NON_BLANK_TEXT_PATTERN, 'u').test(text) && text.length <= MAX_NAME_LENGTH
  if (!fits) throw new InvalidArgumentError(`It needs 1 to ${MAX_NAME_LENGTH} characters, not only white space.`)
  return text
}

/** Creates a parser for whole numbers from 1. */
export const parseCount = (maximum: number) => (text: string) => {
  const count = /^\d+$/.test(text) ? Number(text) : 0
  if (count < 1 || count > maximum) throw new InvalidArgumentError(`It needs a whole number from 1 to ${maximum}.`)
  return count
}

export function parseCursor(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It needs a cursor of the feed, which is a number.')
  return BigInt(text)
}

export function parseTime(text: string): Date {
  const time = new Date(text)
  const isIso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  if (!isIso || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('It needs a time like 2027-01-31T12:00:00Z, or a day.')
  return time
}
