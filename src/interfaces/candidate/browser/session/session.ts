import { requestWithRetry } from '../../../../http/browser/retry.ts'
import type { Upload } from './recording.ts'

export type AnswerAttemptKind = 'audio' | 'video'
export type Question = {
  number: number
  of: number
  /** Null once answering has begun. */
  answersAt: string | null
  closesAt: string | null
  playsLeft: number
  attemptsLeft: number
  text: { text: string; revision: number } | null
  attempts: {
    id: string
    mediaId: string | null
    kind: 'text' | AnswerAttemptKind
    state: 'recording' | 'complete' | 'abandoned'
  }[]
  /** Attempts to choose from, oldest first. */
  answers: PossibleAnswer[]
  /** The attempt that can be continued. */
  interrupted: { mediaId: string; kind: AnswerAttemptKind; contentType: string } | null
  /** True if an interrupted attempt with little saved may be started over. */
  mayStartOver: boolean
  hadInterruption: boolean
}
/**
 * @property milliseconds null until known. @property isReady true if it can be played. @property wasInterrupted true if the candidate did not
 * stop it. @property counts true if it is the current answer.
 */
export type PossibleAnswer = {
  id: string
  mediaId: string | null
  kind: 'text' | AnswerAttemptKind
  milliseconds: number | null
  isReady: boolean
  wasInterrupted: boolean
  restarted: boolean
  counts: boolean
}
export type Needs = { microphone: boolean; camera: boolean; screen: boolean; idPhoto: boolean; facePhoto: boolean }
export type SessionState = {
  state: string
  now: string
  deadlineAt: string | null
  /** True if the deadline is the end of the last question, so that the assessment has no clock of its own. */
  isDeadlineOfQuestion: boolean
  needs: Needs
  checks: { passed: string[]; waived: string[] }
  photos: { id_photo: boolean; face_photo: boolean }
  webcam: 'stills' | 'video'
  question: Question | null
  uploads: Upload[]
}

/** A final refusal by the service: retries would not help. */
export class Refusal extends Error {
  readonly code: string
  readonly details: Record<string, unknown>
  constructor(code: string, details: Record<string, unknown> = {}) {
    super(code)
    this.code = code
    this.details = details
  }
}

export type RequestOptions = {
  json?: object
  bytes?: ArrayBuffer | Blob
  type?: string
  /**
   * Time of the last retry, in milliseconds of `performance.now()`. A function is called before each retry, because extra time can move the
   * end. Default: no limit.
   */
  until?: number | (() => number)
  /** Sends once, even while the page unloads. */
  keepalive?: boolean
  /** Key of an earlier request to repeat. The service does the work of a key once. */
  idempotencyKey?: string
}

const TRY_MS = 20_000
/** Time after a question's end during which its recording and text are still sent: a little less than the service allows. */
export const GRACE_MS = 28_000

export type Session = ReturnType<typeof openSession>

/**
 * Client of the session's API for this tab, with retries.
 *
 * @param base address of the session. @param events.takenOver called when another tab has taken over, so that this tab can no longer write.
 * @param events.reachable called when the service becomes reachable or unreachable.
 */
export function openSession(base: string, events: { takenOver: () => void; reachable: (isReachable: boolean) => void }) {
  const tab = newId()
  let isReachable = true
  let isTakenOver = false
  /** Added to `performance.now()` for the server's time. The device's clock may be wrong or change. */
  let clockOffset = 0

  function setReachable(isNowReachable: boolean): void {
    if (isNowReachable === isReachable) return
    isReachable = isNowReachable
    events.reachable(isNowReachable)
  }

  async function tryOnce(
    method: string,
    path: string,
    idempotencyKey: string,
    { json, bytes, type, keepalive = false }: RequestOptions,
  ): Promise<Response> {
    const body = json ? JSON.stringify(json) : bytes
    const headers: Record<string, string> = { 'x-tab': tab }
    if (method === 'POST') headers['idempotency-key'] = idempotencyKey
    if (body !== undefined) headers['content-type'] = json ? 'application/json' : (type ?? 'application/octet-stream')
    const signal = keepalive ? null : AbortSignal.timeout(TRY_MS)
    return fetch(base + path, { method, headers, keepalive, signal, ...(body === undefined ? {} : { body }) })
  }

  /** @throws Refusal, with the code `unreachable` if the time for retries is over. */
  async function send(method: string, path: string, sending: RequestOptions = {}): Promise<unknown> {
    const { until = Number.POSITIVE_INFINITY, keepalive, idempotencyKey = newId() } = sending
    const tryAsLongAsOurs = async () => {
      if (isTakenOver) throw new Refusal('taken_over')
      return tryOnce(method, path, idempotencyKey, sending)
    }
    const answer = await requestWithRetry(tryAsLongAsOurs, (failure, pause) => {
      if (isTakenOver || keepalive || performance.now() + pause > (typeof until === 'number' ? until : until())) return false
      setReachable(failure !== null && failure.status < 500)
      return true
    })
    if (answer) return read(answer)
    throw new Refusal(isTakenOver ? 'taken_over' : 'unreachable')
  }

  async function read(answer: Response): Promise<unknown> {
    setReachable(true)
    const body = answer.status === 204 ? {} : await answer.json().catch(() => ({}))
    if (answer.ok) return body
    const code = typeof body.code === 'string' ? body.code : `status_${answer.status}`
    if (code === 'taken_over' && !isTakenOver) {
      isTakenOver = true
      events.takenOver()
    }
    throw new Refusal(code, body)
  }

  return {
    base,
    send,
    post: (path: string, json?: object, until?: RequestOptions['until']) =>
      send('POST', path, { ...(json && { json }), ...(until !== undefined && { until }) }),
    /** Makes this tab the only one that may write. */
    claim: () => send('POST', '/tab', { json: { tab } }),
    async read(): Promise<SessionState> {
      const requestedAt = performance.now()
      const state = (await send('GET', '')) as SessionState
      clockOffset = Date.parse(state.now) - (requestedAt + performance.now()) / 2
      return state
    },
    /** Converts an ISO time of the server to milliseconds of `performance.now()`. */
    momentOf: (time: string): number => Date.parse(time) - clockOffset,
    /** Records whether the service answered another request, such as a form. */
    setReachable,
    isReachable: () => isReachable,
    isTakenOver: () => isTakenOver,
  }
}

/** A UUID. `crypto.randomUUID` is missing on pages without HTTPS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
