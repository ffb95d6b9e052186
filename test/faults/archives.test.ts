import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished, test } from 'vitest'
import { requestCandidateArchive } from '../../src/domain/archives/request-archive.ts'
import { fileOf, newMediaKey } from '../../src/domain/files/media-keys.ts'
import { removeFiles } from '../../src/domain/submissions/media/remove-files.ts'
import { createZip } from '../../src/files/zip.ts'
import { readArchive } from '../support/archives.ts'
import { asEraser, listStore } from '../support/erasing.ts'
import { startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { SECRET_KEY, startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const RECORDINGS = scaled(12, 50)
const RECORDED_BYTES = scaled(3, 8) * 1_000_000
const KILLS = scaled(2, 10)
const PATIENCE_MS = 900_000
const run = promisify(execFile)
const ADDRESS = 'recorded@example.com'

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'archives-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Returns the peak memory of a process so far, in megabytes. */
const memoryOf = async (pid: number) =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) / 1_000)

it(
  `creates an archive of ${RECORDINGS} recordings once, despite ${KILLS} kills, and leaves no partial files`,
  async () => {
    const DATA_DIR = await makeFolder()
    const service = await startServiceForTest({ ROLE: 'api', DATA_DIR })
    const { db, deps, make, system } = service
    const organization = await make.organization()
    const assessment = await make.assessment(organization.id)
    const invite = await make.invite(assessment, { status: 'completed', recipientEmail: ADDRESS, completedAt: new Date() })
    const at = { createdAt: new Date(), updatedAt: new Date() }
    const of = { organizationId: organization.id, assessmentId: assessment.id, inviteId: invite.id }
    const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
    const submission = await db.submission.create({ data: { id: deps.newId(), ...of, ...limits, state: 'submitted', ...at } })
    const content = randomBytes(RECORDED_BYTES)
    const inOrder: string[] = []
    for (let i = 0; i < RECORDINGS; i++) {
      const key = newMediaKey(organization)
      await deps.media.put(fileOf(key), content)
      inOrder.push(fileOf(key))
      const one = {
        kind: 'webcam',
        state: 'ready',
        contentType: 'video/webm',
        bytes: content.length,
        milliseconds: 1_000,
      } as const
      const data = { id: deps.newId(), organizationId: organization.id, submissionId: submission.id, key, ...one }
      await db.mediaFile.create({ data: { ...data, createdAt: new Date(Date.now() + i) } })
    }
    const recorded = await listStore(service)
    const ctx = asEraser(service, organization)
    const { id } = await requestCandidateArchive(ctx, { address: ADDRESS })
    const launch = () => startProcess({ DATABASE_URL: service.databaseUrl, SECRET_KEY, DATA_DIR, ROLE: 'worker' })
    const find = () => db.archive.findFirstOrThrow({ where: { id } })
    /** Makes the killed process's jobs due now. */
    const takeUp = () =>
      db.$executeRaw`UPDATE pgboss.job SET state = 'retry', start_after = now(), heartbeat_on = NULL
        WHERE name = 'archive' AND state IN ('active', 'retry')`
    const keys = new Set<string>()
    // The recording in the middle is a named pipe: each process waits there until it is killed.
    const inTheMiddle = path.join(DATA_DIR, 'media', inOrder[Math.floor(RECORDINGS / 2)]!)
    const away = path.join(DATA_DIR, 'away')
    await rename(inTheMiddle, away)
    await run('mkfifo', [inTheMiddle])
    for (let kill = 0; kill < KILLS; kill++) {
      const running = await launch()
      await waitUntil(
        'part of the archive',
        async () => {
          const { key } = await find()
          return (key && !keys.has(key) && (await listStore(service)).some((file) => file.startsWith(`${key}/`))) || undefined
        },
        PATIENCE_MS,
      )
      running.kill('SIGKILL')
      await running.exited
      const { key, finishedAt } = await find()
      expect(finishedAt).toBeNull()
      keys.add(key!)
      await takeUp()
    }
    await rename(away, inTheMiddle)
    const last = await launch()
    const before = await memoryOf(last.pid)
    const made = await waitUntil(
      'the archive',
      async () => {
        const row = await find()
        return row.finishedAt ? row : undefined
      },
      PATIENCE_MS,
    )
    const after = await memoryOf(last.pid)
    process.stdout.write(
      `${RECORDINGS} recordings of ${RECORDED_BYTES / 1e6} MB, killed ${KILLS} times: at most ${before} MB before and ${after} MB after\n`,
    )
    last.kill('SIGTERM')
    await last.exited

    const files = await readArchive(ctx, id)
    const theirs = Object.entries(files).filter(([name]) => name.includes('/media/'))
    expect(theirs.map(([, file]) => file.equals(content))).toEqual(new Array(RECORDINGS).fill(true))
    await removeFiles({ ...system, deps: { ...deps, clock: () => new Date(Date.now() + 120_000) } })
    const left = (await listStore(service)).filter((file) => !recorded.includes(file))
    expect(left.length).toBe(Math.ceil(Number(made.bytes) / (8 * 1024 * 1024)))
    expect(left.filter((file) => !file.startsWith(`${made.key}/`))).toEqual([])
    expect(await db.deletedMediaFile.count()).toBe(0)
  },
  PATIENCE_MS,
)

/** Reads the archive with Python, independently of our own reader. */
const READ = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    print(z.testzip(), [(i.filename, i.file_size, i.header_offset > 2**32) for i in z.infolist()])`

/** Two readers that support ZIP64. */
const hasReaders = ['python3', 'unzip'].every((name) => spawnSync(name, ['-h']).status !== null)

test.skipIf(!LONG || !hasReaders)(
  'writes ZIPs with a file of over 4 GiB and files after it that other ZIP readers read unchanged',
  async () => {
    const file = path.join(await makeFolder(), 'large.zip')
    const handle = await open(file, 'w')
    const zeros = Buffer.alloc(8 * 1024 * 1024)
    const pieces = 2 ** 32 / zeros.length + 1
    let offset = 0
    const zip = createZip(async (bytes) => {
      if (bytes !== zeros) await handle.write(bytes, 0, bytes.length, offset) // zeros become a hole in the file, which takes no disk space
      offset += bytes.length
    }, new Date())
    await zip.add('first.txt', 'first')
    const size = await zip.addStream(
      'large.bin',
      (async function* () {
        for (let i = 0; i < pieces; i++) yield zeros
      })(),
    )
    await zip.add('last.txt', 'last')
    await zip.end()
    await handle.close()
    const { stdout } = await run('python3', ['-c', READ, file])
    expect(size).toBe(pieces * zeros.length)
    expect(stdout.trim()).toBe(`None [('first.txt', 5, False), ('large.bin', ${size}, False), ('last.txt', 4, True)]`)
    await run('unzip', ['-tq', file])
  },
  PATIENCE_MS,
)
