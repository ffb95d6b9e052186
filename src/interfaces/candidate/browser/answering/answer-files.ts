import { FILE_PART_BYTES, MAX_FILE_BYTES } from '../../../../domain/limits.ts'
import type { Outbox } from '../session/outbox.ts'
import type { Player } from '../session/player.ts'
import type { Recording } from '../session/recording.ts'
import { Refusal, type Session } from '../session/session.ts'
import { type FileRow, openFileList } from './file-list.ts'

// Files as an answer. They are sent in parts, like recordings, so that they survive an interrupted connection.

const REFRESH_MS = 300

/** Sends the chosen files of a question and lists them. @param place has the native field. */
export function offerFiles(player: Player, number: number, place: HTMLElement) {
  const { t, session, outbox, status } = player
  const field = place.querySelector('input')!
  const uploads = new Map<FileRow, Promise<void>>()
  const list = openFileList(t, place, (row) => {
    remove(row)
    field.focus()
  })
  let isClosed = false

  function choose(file: File): void {
    const obstacle = findObstacle(file, list.count() >= Number(place.dataset.most))
    if (obstacle) {
      list.showRefusal(file.name, obstacle)
      return
    }
    const row = list.add(file.name, null)
    list.setStatus(row, t.text('file.sending', { name: file.name, percent: '0' }))
    const sending = send(row, file).catch((error) => fail(row, error instanceof Refusal ? error.code : 'unreadable'))
    uploads.set(row, sending)
  }

  async function send(row: FileRow, file: File): Promise<void> {
    const { closesAt } = player.state.question!
    const mediaId = await beginUpload(session, number, file, closesAt)
    if (row.isRemoved) return void abandon(player, mediaId)
    row.mediaId = mediaId
    const recording = outbox.begin(mediaId, 'answer', closesAt)
    await outbox.addFile(recording, file)
    await complete(row, recording, file.size)
  }

  /** Shows how much of a file was sent, until it has arrived or failed. @param bytes of the file; undefined if an earlier page began it. */
  async function complete(row: FileRow, recording: Recording, bytes?: number): Promise<void> {
    const timer = setInterval(() => {
      const percent = Math.floor((100 * recording.saved) / (bytes ?? Math.max(recording.recorded, 1)))
      list.setStatus(row, t.text('file.sending', { name: row.name, percent: String(Math.min(percent, 99)) }))
    }, REFRESH_MS)
    await outbox.finish(recording)
    clearInterval(timer)
    if (isClosed || row.isRemoved) return
    if (recording.failure) return fail(row, recording.failure)
    list.setStatus(row, t.text('file.received', { name: row.name }))
    status.say(t.text('file.received', { name: row.name }))
  }

  function fail(row: FileRow, problem: string): void {
    if (row.isRemoved) return
    list.showRefusal(row.name, problem === 'submitted' ? 'closed' : problem)
    remove(row)
  }

  function remove(row: FileRow): void {
    list.drop(row)
    uploads.delete(row)
    if (row.mediaId) void abandon(player, row.mediaId)
  }

  for (const { mediaId, fileName, questionNumber } of player.state.uploads) {
    if (fileName == null || questionNumber !== number) continue
    const row = list.add(fileName, mediaId)
    const recording = findRecording(outbox, mediaId)
    if (recording) uploads.set(row, complete(row, recording))
    else fail(row, 'unreadable') // the browser has none of its parts
  }
  field.hidden = false
  field.addEventListener('change', () => {
    const files = [...(field.files ?? [])]
    field.value = ''
    list.clearErrors()
    for (const file of files) choose(file)
  })

  const waitForUploads = () => Promise.all(uploads.values()).then(() => {})

  return {
    /** Resolves when all chosen files are sent, or refused. */
    waitForUploads,
    finish: waitForUploads,
    endByClock: async (): Promise<null> => waitForUploads().then(() => null),
    failure: list.errors,
    isBusy: () => outbox.list().some(({ state }) => state === 'sending' || state === 'completing'),
    isRunning: () => false,
    isInterrupted: () => false,
    isAnswered: () => list.count() > 0,
    describeStatus: () => '',
    refresh: async (): Promise<void> => {},
    close(): void {
      isClosed = true
    },
  }
}

/** @returns the id of the upload. @throws Refusal */
async function beginUpload(session: Session, number: number, file: File, closesAt: string | null): Promise<string> {
  const upload = { name: file.name, bytes: file.size, parts: Math.ceil(file.size / FILE_PART_BYTES) }
  const until = closesAt === null ? undefined : session.momentOf(closesAt)
  const { mediaId } = (await session.post(`/questions/${number}/files`, upload, until)) as { mediaId: string }
  return mediaId
}

const findRecording = (outbox: Outbox, mediaId: string): Recording | undefined =>
  outbox.list().find((recording) => recording.mediaId === mediaId)

/** Ends the upload of a file, or takes it out of the answer. A file that the service can't abandon now ends with the question. */
async function abandon({ session, outbox }: Player, mediaId: string): Promise<void> {
  const recording = findRecording(outbox, mediaId)
  if (recording) outbox.fail(recording, 'removed')
  await session.post(`/media/${mediaId}/abandon`, {}).catch(() => {})
}

/** @returns why a file is not sent; undefined if it is. */
function findObstacle({ size }: File, isFull: boolean): string | undefined {
  if (isFull) return 'too_many'
  if (size > MAX_FILE_BYTES) return 'too_big'
  return size === 0 ? 'empty' : undefined
}
