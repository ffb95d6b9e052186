import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { mailOf, NODE_COMPILE_CACHE } from '../support/processes.ts'
import { SECRET_KEY } from '../support/service.ts'

export type Ended = { code: number | null; stdout: string; stderr: string }

/** Runs the real command line to its end, in a process of its own that sees no environment but this. */
export async function runCli(args: string[], env: Record<string, string>, input = ''): Promise<Ended> {
  const child = spawn(process.execPath, ['src/cli.ts', ...args], {
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE, SECRET_KEY, ...mailOf(env), ...env },
    stdio: 'pipe',
  })
  const ended = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  child.stdin.end(input)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, stdout, stderr }
}
