import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { MAX_FILE_BYTES } from '../../src/domain/limits.ts'
import { makeTakingFiles, sha256Of } from '../support/answer-files.ts'
import { isBrowserInstalled, startBrowser } from '../support/browser.ts'
import { LONG } from '../support/scale.ts'
import { startServiceForFile } from '../support/service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { waitUntil } from '../support/wait-until.ts'

const BREAKS = 5
const PATIENCE_MS = 600_000

const service = await startServiceForFile({ ROLE: 'api' })
let browser: Browser
let port: number
beforeAll(async () => {
  if (!LONG || !isBrowserInstalled) return
  browser = await startBrowser()
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
})
afterAll(() => browser?.close())

const startLine = async () => {
  const line = await startTcpProxy({ port })
  onTestFinished(line.cut)
  return line
}

async function writeFileOf(bytes: number) {
  const file = path.join(tmpdir(), `${service.deps.newId()}.pdf`)
  onTestFinished(() => rm(file))
  const content = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(bytes - 9)])
  await writeFile(file, content)
  return { file, content }
}

describe.skipIf(!isBrowserInstalled)('a large file (skipped where no chromium is installed)', () => {
  it.runIf(LONG)('arrives with the same SHA-256 when it has 100 MB and the connection breaks five times', async () => {
    const taking = await makeTakingFiles(service, { groups: ['document'], most: 2 })
    const { file, content } = await writeFileOf(MAX_FILE_BYTES)
    const line = await startLine()
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.goto(`http://127.0.0.1:${line.port}${taking.candidate.path}`)
    await page.locator('#files').waitFor()
    await page.locator('#files').setInputFiles(file)
    const findFile = () => service.db.mediaFile.findFirst({ where: { organizationId: taking.organization.id } })
    for (let i = 1; i <= BREAKS; i++) {
      await waitUntil(
        'part of the file',
        async () => {
          const found = await findFile()
          return found && Number(found.bytes) > (i * content.length) / (BREAKS + 2) ? found : undefined
        },
        PATIENCE_MS,
      )
      await line.cut()
      await sleep(1_000)
      await line.mend()
    }
    await page.getByRole('listitem').getByText('Received:').waitFor({ timeout: PATIENCE_MS })
    const found = (await findFile())!
    expect(await taking.join(found.id)).toBe('ready')
    const chunks: Buffer[] = []
    for await (const chunk of (await service.deps.media.get(`${found.key}/file`))!) chunks.push(chunk as Buffer)
    expect(sha256Of(Buffer.concat(chunks))).toBe(sha256Of(content))
  })
})
