import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runProgram } from '../../src/cli.ts'
import { mailOf, NODE_COMPILE_CACHE } from '../support/processes.ts'
import { SECRET_KEY } from '../support/service.ts'

export type Ended = { code: number | null; stdout: string; stderr: string }

/** The complete environment of a command. */
const environmentOf = (env: Record<string, string>) => ({
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE,
  SECRET_KEY,
  ...mailOf(env),
  ...env,
})

let isRunning = false

/**
 * Runs a command in this process, which saves the second for loading the program.
 *
 * @throws Error if another command is running, because commands use the output and environment of the process. Use {@link runCliProcess} for
 * concurrent commands.
 */
export async function runCli(args: string[], env: Record<string, string>, input = ''): Promise<Ended> {
  if (isRunning) throw new Error('Another command runs in this process')
  isRunning = true
  const { env: outerEnvironment, stdout, stderr, exitCode } = process
  const outerInput = Object.getOwnPropertyDescriptor(process, 'stdin')!
  const outerWrites = { stdout: stdout.write, stderr: stderr.write }
  const written = { stdout: '', stderr: '' }
  const capture = (name: 'stdout' | 'stderr') => (chunk: string | Uint8Array) => {
    written[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return true
  }
  process.env = environmentOf(env)
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([input]) })
  stdout.write = capture('stdout')
  stderr.write = capture('stderr')
  process.exitCode = undefined
  try {
    await runProgram(args)
    return { code: Number(process.exitCode ?? 0), ...written }
  } finally {
    isRunning = false
    process.env = outerEnvironment
    Object.defineProperty(process, 'stdin', outerInput)
    stdout.write = outerWrites.stdout
    stderr.write = outerWrites.stderr
    process.exitCode = exitCode
  }
}

/** Runs a command in a child process, like an operator. */
export async function runCliProcess(args: string[], env: Record<string, string>, input = ''): Promise<Ended> {
  const child = spawn(process.execPath, ['src/cli.ts', ...args], { env: environmentOf(env), stdio: 'pipe' })
  const ended = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  child.stdin.end(input)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, stdout, stderr }
}
