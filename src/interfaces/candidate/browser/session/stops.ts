import { sleep } from '../../../../http/browser/dom.ts'
import { createDraftStore } from '../../../../http/browser/draft-store.ts'
import { measureAgo, toMonotonicTime } from './ago.ts'
import type { Recording } from './recording.ts'
import { Refusal, type Session } from './session.ts'

/** Times of stopped recordings by their ids, by the device's clock. */
type StopTimes = Record<string, number>

const draftsOf = (session: Session) => createDraftStore<StopTimes>(`stopped ${session.base}`)

/**
 * Milliseconds between retries. During an upgrade of the service, a process of the previous release may respond, which does not know this
 * request.
 */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/**
 * Reports when the candidate stopped a recording. Only a stopped recording replaces an earlier answer. The report is stored in the browser
 * until it is sent, so that a later page can send it.
 *
 * @param onLate called if the report was sent only after this function returned.
 */
export async function reportStop(
  session: Session,
  { mediaId, until }: Pick<Recording, 'mediaId' | 'until'>,
  onLate: () => void,
): Promise<void> {
  const drafts = draftsOf(session)
  drafts.write({ ...drafts.read(), [mediaId]: Date.now() })
  const stoppedAt = performance.now()
  if (!(await report(session, mediaId, stoppedAt, until))) void reportLater(session, mediaId, stoppedAt, until).then(onLate)
}

/** True if the candidate stopped a recording and the service may not know yet. */
export const isStopped = (session: Session, mediaId: string): boolean => mediaId in (draftsOf(session).read() ?? {})

/** Sends the reports that earlier pages could not send. */
export function reportUnsentStops(session: Session): void {
  const unsentStops = draftsOf(session).read() ?? {}
  for (const [mediaId, stopped] of Object.entries(unsentStops))
    void reportLater(session, mediaId, toMonotonicTime(stopped), Number.POSITIVE_INFINITY, 0)
}

async function reportLater(
  session: Session,
  mediaId: string,
  stoppedAt: number,
  until: number,
  first = FIRST_PAUSE_MS,
): Promise<void> {
  for (
    let pause = first;
    performance.now() + pause < until;
    pause = Math.min(Math.max(pause * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
  ) {
    await sleep(pause)
    if (await report(session, mediaId, stoppedAt, until)) return
  }
}

/** @returns false to retry, because the responding process does not know this request. */
async function report(session: Session, mediaId: string, stoppedAt: number, until: number): Promise<boolean> {
  try {
    await session.post(`/media/${mediaId}/stop`, { ago: measureAgo(stoppedAt) }, until)
  } catch (error) {
    const code = error instanceof Refusal ? error.code : ''
    if (code === 'path_not_found') return false
    if (code === 'taken_over' || code === 'unreachable') return true // the next page sends it
  }
  const drafts = draftsOf(session)
  const { [mediaId]: _told, ...otherStops } = drafts.read() ?? {}
  if (Object.keys(otherStops).length === 0) drafts.clear()
  else drafts.write(otherStops)
  return true
}
