import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { makeDataDir, runsServer } from '../support/data-dir.ts'
import { endWithTest } from '../support/endings.ts'
import { scaled } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'

const ROUNDS = scaled(1, 3)
// The `script` command of util-linux. Other implementations have different options.
const canOpenTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false

/** Runs `npm start` in a new pseudoterminal. */
function startInTerminal(dataDir: string) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, PORT: '0' }
  const child = spawn('script', ['--quiet', '--return', '--command', 'exec npm start', '/dev/null'], { env })
  const exited = once(child, 'close').then(([code]) => code as number | null)
  endWithTest(child, exited)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  return { output: () => output, type: (keys: string) => child.stdin.write(keys), exited }
}

const CTRL_C = '\x03'

it.skipIf(!canOpenTerminal)(
  `stops gracefully, with its database, at each of ${ROUNDS} Ctrl-C on npm start (skipped without "script" of util-linux)`,
  async () => {
    const dataDir = await makeDataDir()
    for (let round = 1; round <= ROUNDS; round++) {
      const terminal = startInTerminal(dataDir)
      await waitUntil('the service to be ready', () => terminal.output().includes('is ready') || undefined)
      terminal.type(CTRL_C)
      const code = await terminal.exited
      expect(code, `round ${round}: ${terminal.output()}`).toBe(0)
      expect(terminal.output()).toContain('"signal":"SIGINT","msg":"stopping"')
      expect({ round, left: await runsServer(dataDir) }).toEqual({ round, left: false })
    }
  },
)
