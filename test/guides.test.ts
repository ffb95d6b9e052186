import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { runCliProcess } from './cli/run-cli.ts'
import { makeDataDir } from './support/data-dir.ts'
import { findFreePort } from './support/free-port.ts'
import { readGuide } from './support/guide-scripts.ts'
import { startProcess } from './support/processes.ts'
import { waitUntil } from './support/wait-until.ts'

it('docs/guides lead from an empty folder to a released result: with test data, in one command, and with live data', async () => {
  const DATA_DIR = await makeDataDir()
  const settings = { DATA_DIR, SECRET_KEY: '', MAIL: '' }
  const service = await startProcess(settings, ['-c', manifest.scripts.start], '/bin/sh')
  const JOIN = await waitUntil('the link to the portal', () => /http:\S+\/portal\/join\/\S+/.exec(service.output())?.[0])
  const SERVICE = new URL(JOIN).origin
  const keyOf = (mode: string) => new RegExp(`ak_${mode}_\\S+`).exec(service.output())![0]
  const MAILBOX = await waitUntil(
    'the link to the captured mails',
    () => /http:\S+\/dev\/mailbox\?\S+/.exec(service.output())?.[0],
  )
  const env = { PATH: process.env.PATH, SERVICE, JOIN, MAILBOX }

  const port = await findFreePort()
  for (const run of [1, 2]) await followWithTestData({ ...env, KEY: keyOf('test') }, { port, run })

  const { code, stdout, stderr } = await runCliProcess(['sandbox', '--url', SERVICE], { DATA_DIR, SECRET_KEY: '' })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.match(/curl -s -X \w+ "\$SERVICE[^"]+"/g)).toHaveLength(9)
  expect(stdout).toMatch(/released, \d+ of \d+ points\n[\s\S]*submission.released, 80 percent. Its signature is right./)

  await followWithLiveData({ ...env, KEY: keyOf('live') })
})

async function followWithTestData(env: NodeJS.ProcessEnv, { port, run }: { port: number; run: number }): Promise<void> {
  const { names, script } = await readGuide('quick-start')
  expect(names).toEqual(['SERVICE', 'KEY'])
  const commands = script.replaceAll('8099', String(port))
  const child = spawn('bash', ['-eu', '-c', `${commands}\nwait`], { env, detached: true })
  const exited = once(child, 'close')
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!)
    await exited
  }
  onTestFinished(end)
  const eventTypes = ['invite.accepted', 'invite.completed', 'invite.created', 'invite.started', 'submission.released']
  // The receiver of the second run also reads the first run's events from the feed.
  const expected = [...Array(3).fill('completed'), ...Array(run).fill(eventTypes).flat()].sort()
  const heard = () => output.match(/^completed$|(invite|submission)\.\w+(?= )/gm) ?? []
  // Webhooks arrive in any order, mixed with the output of the commands.
  await waitUntil('the webhooks and the result', () =>
    output.includes('"state":"released"') && heard().length >= expected.length ? true : undefined,
  ).catch((error) => {
    throw new Error(`${error.message}:\n${output}`)
  })
  expect(heard().sort()).toEqual(expected)
  for (const part of ['I would ask first.', 'To the point.', '"points":16.5']) expect(output).toContain(part)
  await end()
}

async function followWithLiveData(env: NodeJS.ProcessEnv): Promise<void> {
  const { names, script } = await readGuide('whole-way')
  expect(names).toEqual(['SERVICE', 'KEY', 'JOIN', 'MAILBOX'])
  const cwd = await makeDataDir()
  const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', script], { env, cwd, timeout: 60_000 })

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
}
