import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makeDataDir, runsServer } from '../support/data-dir.ts'
import { findFreePort } from '../support/free-port.ts'
import { launchService } from '../support/processes.ts'
import { waitUntil } from '../support/wait-until.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const PAGE = 'src/interfaces/portal/sign-in/sign-in.page.ts'
const STYLES = 'src/http/pages/assets/pages.css'

/** Copies the checkout, so that the test can change its files. */
async function copyCheckout(): Promise<string> {
  const copy = await mkdtemp(path.join(tmpdir(), 'assessments-checkout-'))
  onTestFinished(() => rm(copy, { recursive: true }))
  for (const name of ['src', 'prisma', 'package.json'])
    await cp(path.join(ROOT, name), path.join(copy, name), { recursive: true })
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
  return copy
}

it('restarts the service and rebuilds the browser bundle on a change in src/, while the database stays up', async () => {
  const [checkout, dataDir, port] = await Promise.all([copyCheckout(), makeDataDir(), findFreePort()])
  const settings = { DATA_DIR: dataDir, PORT: String(port), NODE_COMPILE_CACHE: path.join(checkout, 'compiled') }
  const dev = launchService(settings, [path.join(checkout, 'src/dev.ts')])
  onTestFinished(async () => {
    dev.kill('SIGTERM') // also stops the service and the database
    await dev.exited
  })
  const read = (url: string) =>
    fetch(`http://127.0.0.1:${port}${url}`).then(
      (answer) => answer.text(),
      () => '', // the service does not listen during a restart
    )
  const readPage = () => read('/portal/sign-in')
  const readStyles = async () => read(/href="([^"]+\.css)"/.exec(await readPage())?.[1] ?? '/')
  const change = async (file: string, edit: (text: string) => string) =>
    writeFile(path.join(checkout, file), edit(await readFile(path.join(checkout, file), 'utf8')))
  const waitFor = (what: string, where: () => Promise<string>) =>
    waitUntil(`"${what}" from npm run dev`, async () => (await where()).includes(what) || undefined).catch((error) => {
      throw new Error(`${error.message}:\n${dev.output().slice(-2_000)}`)
    })
  const serverPid = async () => (await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]

  await waitFor('Sign in', readPage)
  const pid = await serverPid()
  await change(STYLES, (text) => `${text}.new-style { color: red }`)
  await waitFor('.new-style', readStyles)
  await change(PAGE, (text) => `(${text}`)
  await waitUntil('the syntax error in the output', () => dev.output().includes('SyntaxError') || undefined)
  await change(PAGE, (text) => text.slice(1).replaceAll('Sign in', 'Enter'))
  await waitFor('Enter', readPage)
  expect(await serverPid()).toBe(pid)

  dev.kill('SIGTERM')
  expect(await dev.exited).toEqual({ code: 0, signal: null })
  expect(await runsServer(dataDir)).toBe(false)
})
