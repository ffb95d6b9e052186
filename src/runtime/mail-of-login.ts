import { accessSync, constants, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/**
 * The setting MAIL. Login shells set a variable of that name to the path of a mailbox, and Node has what is set go before what `--env-file`
 * names: where that is so, the file is asked.
 */
export function findMail(env: NodeJS.ProcessEnv): string | undefined {
  if (!env.MAIL?.startsWith('/')) return env.MAIL
  const files = process.execArgv.flatMap((option) => /^--env-file(?:-if-exists)?=(.+)$/.exec(option)?.slice(1) ?? [])
  return files
    .filter(isReadable)
    .map((file) => parseEnv(readFileSync(file, 'utf8')).MAIL)
    .at(-1)
}

/** Node too goes on without a file that it may not read. */
function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}
