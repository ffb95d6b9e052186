import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { joinRecording } from '../../src/domain/submissions/media/join-recording.ts'
import { remuxInProcess } from '../../src/media/remux-in-process.ts'
import { startServiceForTest } from '../support/service.ts'
import { canMount, mount, resize } from '../support/small-disk.ts'
import { takeAssessment } from '../support/submissions.ts'

const run = promisify(execFile)
const RECORDINGS = 20
const SECONDS = 4
const MEGABYTE = 2 ** 20
const GIGABYTE = 2 ** 30
const PART_BYTES = 200_000

const canRun = (name: string) => spawnSync(name, ['-version']).status === 0
const isPossible = canRun('ffmpeg') && canRun('ffprobe') && canMount()

async function usedOf(folder: string): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(folder)
  return (blocks - bfree) * bsize
}

/** Records video without a duration in its header, as browsers do. Its noise hardly compresses. */
async function recordInto(file: string): Promise<Buffer> {
  const pictures = ['-f', 'lavfi', '-i', `testsrc2=s=320x240:r=15,noise=alls=60:allf=t:all_seed=1`]
  const sound = ['-f', 'lavfi', '-i', 'anoisesrc=amplitude=0.2:seed=1']
  const codecs = ['-c:v', 'libvpx', '-b:v', '1500k', '-minrate', '1500k', '-deadline', 'realtime', '-c:a', 'libopus']
  await run('ffmpeg', ['-v', 'error', ...pictures, ...sound, ...codecs, '-t', String(SECONDS), '-live', '1', file])
  return readFile(file)
}

/** Decodes all video and audio with FFmpeg, which the joining code does not use. */
async function decode(file: string) {
  const streams = await run('ffprobe', [
    '-v',
    'error',
    '-count_frames',
    '-show_entries',
    'stream=codec_type,nb_read_frames',
    '-of',
    'csv',
    file,
  ])
  const { stdout } = await run('ffprobe', ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', file])
  const { stderr } = await run('ffmpeg', ['-v', 'error', '-xerror', '-i', file, '-f', 'null', '-'])
  return { frames: streams.stdout.trim(), seconds: Number(stdout), complaints: stderr }
}

test.skipIf(!isPossible)('loses no recording to a full disk, whether it fills while joining or while storing', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'full-disk-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const source = path.join(root, 'recorded.webm')
  const recording = await recordInto(source)
  const expected = await decode(source)
  expect(recording.length).toBeGreaterThan(MEGABYTE / 2) // twice its size does not fit into the temporary folder

  const [temporary, data] = [path.join(root, 'temporary'), path.join(root, 'data')]
  const stored = path.join(data, 'media')
  await mount(temporary, MEGABYTE)
  await mount(stored, 2 * GIGABYTE) // recordings don't start with less than 1 GB of free space
  const service = await startServiceForTest({ ROLE: 'api', DATA_DIR: data })
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())

  const recorded: { candidate: Awaited<ReturnType<typeof takeAssessment>>; mediaId: string }[] = []
  for (let count = 0; count < RECORDINGS; count++) {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    const parts = Math.ceil(recording.length / PART_BYTES)
    for (let number = 0; number < parts; number++) {
      const slice = recording.subarray(number * PART_BYTES, (number + 1) * PART_BYTES)
      expect((await candidate.putPart(mediaId, 0, number, slice)).status).toBe(204)
    }
    expect((await candidate.post(`media/${mediaId}/complete`, { segments: [parts] })).status).toBe(202)
    recorded.push({ candidate, mediaId })
  }
  const joinAll = async (): Promise<string[]> => {
    for (const { candidate, mediaId } of recorded) {
      const { organizationId, key } = await candidate.media(mediaId)
      await joinRecording(service.system, { mediaId, organizationId, key }, { remux: remuxInProcess }).catch(() => undefined)
    }
    return Promise.all(recorded.map(async ({ candidate, mediaId }) => (await candidate.media(mediaId)).state))
  }
  const all = (state: string) => new Array(RECORDINGS).fill(state)

  expect(await joinAll()).toEqual(all('joining'))

  resize(temporary, 16 * MEGABYTE)
  const used = await usedOf(stored)
  resize(stored, used + MEGABYTE / 4)
  expect(await joinAll()).toEqual(all('joining'))
  expect(await usedOf(stored)).toBe(used)

  resize(stored, used + (RECORDINGS + 1) * 2 * recording.length)
  expect(await joinAll()).toEqual(all('ready'))
  for (const { candidate, mediaId } of recorded) {
    const { key, parts } = await candidate.media(mediaId)
    expect(parts).toEqual([])
    const file = path.join(root, mediaId)
    await writeFile(file, await buffer((await service.deps.media.get(`${key}/file`))!))
    const { frames, seconds, complaints } = await decode(file)
    expect([frames, complaints]).toEqual([expected.frames, ''])
    expect(Math.abs(seconds - SECONDS)).toBeLessThan(0.5)
  }
})
