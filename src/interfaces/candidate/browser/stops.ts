import { openDrafts } from '../../../http/browser/drafts.ts'
import { keptMoment, measureAgo } from './ago.ts'
import { Refusal, type Session } from './session.ts'

/** Recordings that were stopped, with when by the device's clock. */
type Stopped = Record<string, number>

const draftsOf = (session: Session) => openDrafts<Stopped>(`stopped ${session.base}`)

/**
 * Tells the service that the candidate has stopped a recording, and when: what nobody stopped takes the place of nothing. Kept in the browser
 * until it is told, also when the page is closed.
 *
 * @param until when it is told no more, in milliseconds of `performance.now()`.
 */
export async function tellStop(session: Session, mediaId: string, until: number): Promise<void> {
  const drafts = draftsOf(session)
  drafts.write({ ...drafts.read(), [mediaId]: Date.now() })
  await tell(session, mediaId, performance.now(), until)
}

/** Tells what an earlier page could not. */
export function tellLeftStops(session: Session): void {
  const left = draftsOf(session).read() ?? {}
  for (const [mediaId, stopped] of Object.entries(left))
    void tell(session, mediaId, keptMoment(stopped), Number.POSITIVE_INFINITY)
}

async function tell(session: Session, mediaId: string, at: number, until: number): Promise<void> {
  try {
    await session.post(`/media/${mediaId}/stop`, { ago: measureAgo(at) }, until)
  } catch (error) {
    const isForLater = error instanceof Refusal && ['taken_over', 'unreachable'].includes(error.code)
    if (isForLater) return
  }
  const drafts = draftsOf(session)
  const { [mediaId]: _told, ...others } = drafts.read() ?? {}
  if (Object.keys(others).length === 0) drafts.clear()
  else drafts.write(others)
}
