import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkFileScanner } from '../../src/cli/check-environment.ts'
import { createFileScanner } from '../../src/media/scan-file.ts'
import { findFreePort } from '../support/free-port.ts'
import { LONG } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'

const CLAMD = '/usr/sbin/clamd'
/** The standard antivirus test file, split in two so that no scanner finds it in this source file. */
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')
const OWN = 'content that only our signature knows'

/** Starts Debian's clamd with signatures of two whole files. */
async function startClamd() {
  const folder = await mkdtemp(path.join(tmpdir(), 'clamd-'))
  const port = await findFreePort()
  const signatureOf = (text: string, name: string) =>
    `${createHash('md5').update(text).digest('hex')}:${Buffer.byteLength(text)}:${name}`
  await mkdir(path.join(folder, 'database'))
  const signatures = [signatureOf(EICAR, 'Eicar-Test'), signatureOf(OWN, 'Own-Signature')].join('\n')
  await writeFile(path.join(folder, 'database', 'own.hdb'), `${signatures}\n`)
  const settings = { TCPSocket: port, TCPAddr: '127.0.0.1', Foreground: 'yes', StreamMaxLength: '100M', MaxScanSize: '100M' }
  const lines = Object.entries({ ...settings, DatabaseDirectory: path.join(folder, 'database'), TemporaryDirectory: folder })
  await writeFile(path.join(folder, 'clamd.conf'), lines.map((line) => `${line.join(' ')}\n`).join(''))
  const clamd = spawn(CLAMD, ['--config-file', path.join(folder, 'clamd.conf')], { stdio: 'ignore' })
  const ended = new Promise((resolve) => clamd.once('exit', resolve))
  const stop = async () => {
    clamd.kill()
    await ended
  }
  onTestFinished(async () => {
    await stop()
    await rm(folder, { recursive: true })
  })
  const url = `tcp://127.0.0.1:${port}`
  await waitUntil('clamd', async () => ((await checkFileScanner(url)).problem ? undefined : true))
  const scan = async (content: string | Buffer) => {
    const file = path.join(folder, 'scanned')
    await writeFile(file, content)
    return createFileScanner(url)(file)
  }
  return { url, scan, stop }
}

describe.skipIf(!LONG || !existsSync(CLAMD))('the file scanner (skipped where no clamd is installed)', () => {
  it('finds the EICAR file and a signature of our own, and nothing in other files', async () => {
    const { url, scan } = await startClamd()
    expect(await scan(EICAR)).toBe('Eicar-Test.UNOFFICIAL')
    expect(await scan(OWN)).toBe('Own-Signature.UNOFFICIAL')
    expect(await scan('harmless')).toBeNull()
    expect(await scan(Buffer.alloc(99_000_000, 'a'))).toBeNull()
    expect(await checkFileScanner(url)).toMatchObject({ problem: false, message: expect.stringContaining('ClamAV') })
  })

  it('fails instead of reporting a clean file while clamd is unreachable or rejects a file for its size', async () => {
    const { url, scan, stop } = await startClamd()
    await expect(scan(Buffer.alloc(110_000_000))).rejects.toThrow()
    await stop()
    await expect(scan('harmless')).rejects.toThrow('ECONNREFUSED')
    expect(await checkFileScanner(url)).toMatchObject({ problem: true, message: expect.stringContaining('FILE_SCAN_URL') })
  })
})
