import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { makeDataDir } from './support/data-dir.ts'
import { startProcess } from './support/processes.ts'
import { waitUntil } from './support/wait-until.ts'

/** The commands of a chapter of a page: its blocks, in their order. */
async function readCommands(page: string, chapter: string): Promise<string[]> {
  const text = await readFile(page, 'utf8')
  const [, rest = ''] = text.split(`\n## ${chapter}\n`)
  const [own = ''] = rest.split('\n## ')
  return [...own.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands]) => commands!)
}

it('docs/integrating.md leads from a start on an empty folder by curl alone from an invite to its released result', async () => {
  const [settings, ...commands] = await readCommands('docs/integrating.md', 'From an invite to its released result')
  const names = [...settings!.matchAll(/^export (\w+)=/gm)].map(([, name]) => name)
  expect(names).toEqual(['SERVICE', 'KEY', 'JOIN'])

  const service = await startProcess({ DATA_DIR: await makeDataDir(), SECRET_KEY: '' }, ['-c', manifest.scripts.start], '/bin/sh')
  const JOIN = await waitUntil('the link to the portal', () => /http:\S+\/portal\/join\/\S+/.exec(service.output())?.[0])
  const KEY = /ak_live_\S+/.exec(service.output())![0]
  const env = { PATH: process.env.PATH, SERVICE: new URL(JOIN).origin, KEY, JOIN }
  const cwd = await makeDataDir()
  const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', commands.join('\n')], { env, cwd, timeout: 60_000 })

  const lines = stdout.trim().split('\n')
  const pressed = lines.filter((line) => /^\w+: \d+$/.test(line)).map((line) => line.split(': '))
  const answered = ['open', 'answer']
  expect(pressed).toEqual(
    ['accept', 'consent', 'start', ...answered, ...answered, ...answered, 'finish'].map((button) => [button, '303']),
  )
  const submission = JSON.parse(lines.at(-1)!)
  expect(submission).toMatchObject({ state: 'released', result: { points: 13.5, version: 1 } })
  for (const part of ['What I have to say to question 3.', 'Clear and to the point.', 'Worth a conversation.'])
    expect(lines.at(-1)).toContain(part)
})
